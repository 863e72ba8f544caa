// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Drives a server by npm's wiremock-captain; what is not as it has to be is printed.
const { WireMock } = require('wiremock-captain');

const base = process.argv[2];
let wrong = 0;
const is = (what, want, got) => {
  if (JSON.stringify(want) !== JSON.stringify(got)) {
    wrong++;
    console.log(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  }
};
const call = async (path, options) => {
  const response = await fetch(base + path, options);
  return `${response.status} ${await response.text()}`;
};

(async () => {
  const mock = new WireMock(base);
  await mock.clearAll();
  const stub = await mock.register(
    { method: 'POST', endpoint: '/orders', body: { item: 'tea' }, headers: { accept: 'application/json' } },
    { status: 201, body: { id: 7 } },
  );
  await mock.register({ method: 'GET', endpoint: '/step' }, { status: 200, body: 'one' },
    { scenario: { scenarioName: 's', requiredScenarioState: 'Started', newScenarioState: 'two' } });
  await mock.register({ method: 'GET', endpoint: '/step' }, { status: 200, body: 'two' },
    { scenario: { scenarioName: 's', requiredScenarioState: 'two' } });
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  is('matches', '201 {"id":7}', await call('/orders', { method: 'POST', headers, body: '{"item": "tea"}' }));
  is('other body', '404', (await call('/orders', { method: 'POST', headers, body: '{"item": "pot"}' })).slice(0, 3));
  is('first', '200 "one"', await call('/step'));
  is('then', '200 "two"', await call('/step'));
  is('state', 'two', (await mock.getAllScenarios())[0].state);
  await mock.resetAllScenarios();
  is('again', '200 "one"', await call('/step'));
  is('requests', 5, (await mock.getAllRequests()).length);
  is('of one path', 2, (await mock.getRequestsForAPI('POST', '/orders')).length);
  is('unmatched', 1, (await mock.getUnmatchedRequests()).length);
  is('mappings', 3, (await mock.getAllMappings()).length);
  is('one mapping', stub.id, (await mock.getMapping(stub.id)).id);
  await mock.deleteMapping(stub.id);
  is('without it', 2, (await mock.getAllMappings()).length);
  await mock.clearAllExceptDefault();
  is('nothing is left', [0, 0], [(await mock.getAllMappings()).length, (await mock.getAllRequests()).length]);
  console.log(wrong === 0 ? 'all is well' : `${wrong} wrong`);
  process.exit(wrong === 0 ? 0 : 1);
})().catch((error) => {
  console.log(error.message);
  process.exit(1);
});
