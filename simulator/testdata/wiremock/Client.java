// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

import static com.github.tomakehurst.wiremock.client.WireMock.*;

import com.github.tomakehurst.wiremock.client.VerificationException;
import com.github.tomakehurst.wiremock.client.WireMock;
import com.github.tomakehurst.wiremock.matching.RequestPattern;
import com.github.tomakehurst.wiremock.stubbing.Scenario;
import com.github.tomakehurst.wiremock.stubbing.ServeEvent;
import com.github.tomakehurst.wiremock.stubbing.StubMapping;
import com.github.tomakehurst.wiremock.verification.LoggedRequest;
import com.github.tomakehurst.wiremock.verification.NearMiss;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;

/** Drives a server by WireMock's own client; what is not as it has to be is printed. */
public class Client {
  static final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  static String base;
  static int wrong = 0;

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    base = "http://127.0.0.1:" + port;
    WireMock.configureFor("127.0.0.1", port);
    reset();
    stubs();
    verifies();
    scenarios();
    nearMisses();
    edits();
    tags();
    settings();
    imports();
    events();
    refuses();
    reset();
    is("mappings after the reset", 0, listAllStubMappings().getMappings().size());
    System.out.println(wrong == 0 ? "all is well" : wrong + " wrong");
    System.exit(wrong == 0 ? 0 : 1);
  }

  static void stubs() throws Exception {
    StubMapping one =
        stubFor(
            get(urlEqualTo("/one"))
                .withName("one")
                .willReturn(
                    aResponse().withStatus(203).withHeader("X-A", "1", "2").withBody("hello")));
    is("answer", "203 hello", call("GET", "/one", null));
    is("headers", List.of("1", "2"), last.headers().allValues("X-A"));
    stubFor(get(urlEqualTo("/one")).willReturn(ok("newer")));
    is("the newest first", "200 newer", call("GET", "/one", null));
    stubFor(get(urlEqualTo("/one")).atPriority(9).willReturn(ok("lower")));
    is("priority", "200 newer", call("GET", "/one", null));
    is("by ID", "one", getSingleStubMapping(one.getId()).getName());
    is("mappings", 3, listAllStubMappings().getMappings().size());
    stubFor(
        post(urlPathTemplate("/orders/{id}"))
            .withPathParam("id", equalTo("7"))
            .withQueryParam("q", matching("a+"))
            .withHeader("X-Key", containing("k"))
            .withCookie("c", equalTo("d"))
            .withBasicAuth("ada", "secret")
            .withRequestBody(equalToJson("{\"a\": [1, 2]}", true, true))
            .withRequestBody(matchingJsonPath("$.a[0]", equalTo("2")))
            .willReturn(jsonResponse("{\"ok\": true}", 201)));
    is(
        "all conditions",
        "201 {\"ok\": true}",
        call("POST", "/orders/7?q=aa", "{\"a\":[2,1],\"b\":0}", "X-Key", "kk", "Cookie", "c=d",
            "Authorization", "Basic YWRhOnNlY3JldA=="));
    is("not all", 404, status(call("POST", "/orders/7?q=b", "{}")));
    stubFor(
        any(urlPathMatching("/t/.*"))
            .willReturn(ok("{{request.method}} {{request.path.[1]}}").withTransformers("response-template")));
    is("template", "200 PUT x", call("PUT", "/t/x", ""));
    stubFor(get("/binary").willReturn(aResponse().withBody(new byte[] {65, 66})));
    is("bytes", "200 AB", call("GET", "/binary", null));
    removeStub(one);
    is("removed", 5, listAllStubMappings().getMappings().size());
  }

  static void verifies() throws Exception {
    resetAllRequests();
    call("GET", "/one?x=1", null, "X-Two", "2");
    call("POST", "/posted", "{\"name\": \"Ada\"}", "Content-Type", "application/json");
    call("POST", "/posted", "{\"name\": \"Eve\"}", "Content-Type", "application/json");
    verify(exactly(2), postRequestedFor(urlEqualTo("/posted")));
    verify(1, postRequestedFor(urlPathEqualTo("/posted")).withRequestBody(matchingJsonPath("$[?(@.name == 'Ada')]")));
    verify(moreThan(1), anyRequestedFor(urlMatching("/po.*")));
    verify(getRequestedFor(urlPathEqualTo("/one")).withQueryParam("x", equalTo("1")).withHeader("X-Two", equalTo("2")));
    verify(0, getRequestedFor(urlEqualTo("/never")));
    try {
      verify(3, postRequestedFor(urlEqualTo("/posted")));
      fail("a wrong count was verified");
    } catch (VerificationException expected) {
      is("says how many", true, expected.getMessage().contains("but received 2"));
    }
    try {
      verify(getRequestedFor(urlEqualTo("/onn")));
      fail("a request that was not made was verified");
    } catch (VerificationException expected) {
      is("says what was nearest", true, expected.getMessage().contains("/one"));
    }
    List<LoggedRequest> found = findAll(postRequestedFor(urlEqualTo("/posted")));
    is("found", 2, found.size());
    is("in their order", "{\"name\": \"Ada\"}", found.get(0).getBodyAsString());
    is("header", "application/json", found.get(0).getHeader("Content-Type"));
    is("client", "127.0.0.1", found.get(0).getClientIp());
    is("absolute", base + "/posted", found.get(0).getAbsoluteUrl());
    is("unmatched", 3, findUnmatchedRequests().size());
    WireMock.removeServeEvents(postRequestedFor(urlEqualTo("/posted")));
    is("forgotten", 0, findAll(postRequestedFor(urlEqualTo("/posted"))).size());
  }

  static void scenarios() throws Exception {
    for (String[] step : new String[][] {{Scenario.STARTED, "two"}, {"two", "three"}, {"three", Scenario.STARTED}}) {
      stubFor(
          get("/step").inScenario("steps").whenScenarioStateIs(step[0]).willSetStateTo(step[1]).willReturn(ok(step[0])));
    }
    is("first", "200 Started", call("GET", "/step", null));
    is("second", "200 two", call("GET", "/step", null));
    Scenario steps = getAllScenarios().get(0);
    is("name", "steps", steps.getName());
    is("state", "three", steps.getState());
    is("possible", 3, steps.getPossibleStates().size());
    is("mappings", 3, steps.getMappings().size());
    setScenarioState("steps", "two");
    is("set", "200 two", call("GET", "/step", null));
    resetScenario("steps");
    is("reset one", "200 Started", call("GET", "/step", null));
    resetAllScenarios();
    is("reset all", "200 Started", call("GET", "/step", null));
    try {
      setScenarioState("steps", "nowhere");
      fail("a state that is none was set");
    } catch (RuntimeException expected) {
    }
    try {
      setScenarioState("none", "two");
      fail("a state of no scenario was set");
    } catch (RuntimeException expected) {
    }
  }

  static void nearMisses() throws Exception {
    resetAllRequests();
    stubFor(get("/near/by").willReturn(ok()));
    call("GET", "/near/bx", null);
    List<NearMiss> misses = findNearMissesForAllUnmatched();
    is("near misses", true, misses.size() > 0);
    is("the nearest", "/near/by", misses.get(0).getStubMapping().getRequest().getUrl());
    is("for a request", "/near/by",
        findNearMissesFor(findUnmatchedRequests().get(0)).get(0).getStubMapping().getRequest().getUrl());
    is("for conditions", "/near/bx",
        findNearMissesFor(getRequestedFor(urlEqualTo("/near/bz"))).get(0).getRequest().getUrl());
  }

  static void edits() throws Exception {
    UUID id = UUID.randomUUID();
    stubFor(get("/edit").withId(id).willReturn(ok("before")));
    stubFor(get("/edit").atPriority(1).willReturn(ok("first")));
    editStub(get("/edit").withId(id).atPriority(1).willReturn(ok("after")));
    is("edited in its place", "200 first", call("GET", "/edit", null));
    is("edited", "after", getSingleStubMapping(id).getResponse().getBody());
    removeStub(id);
    is("the other is there", "200 first", call("GET", "/edit", null));
    removeStub(get("/edit"));
    is("gone by its request", 404, status(call("GET", "/edit", null)));
  }

  static void tags() throws Exception {
    stubFor(get("/tagged").withMetadata(java.util.Map.of("tag", "x")).willReturn(ok()));
    is("by metadata", 1, findStubsByMetadata(matchingJsonPath("$.tag", equalTo("x"))).size());
    removeStubsByMetadata(matchingJsonPath("$.tag", equalTo("x")));
    is("removed by metadata", 404, status(call("GET", "/tagged", null)));
  }

  static void settings() throws Exception {
    stubFor(get("/slow").willReturn(ok()));
    setGlobalFixedDelay(300);
    long started = System.nanoTime();
    call("GET", "/slow", null);
    is("delay", true, System.nanoTime() - started >= 300_000_000L);
    is("shown", 300, getSettings().getFixedDelay());
    stubFor(get("/own").willReturn(ok().withFixedDelay(0)));
    started = System.nanoTime();
    call("GET", "/own", null);
    is("a delay of its own", true, System.nanoTime() - started < 300_000_000L);
    setGlobalFixedDelay(0);
  }

  static void imports() throws Exception {
    UUID id = UUID.randomUUID();
    stubFor(get("/i").withId(id).willReturn(ok("mine")));
    importStubs(
        com.github.tomakehurst.wiremock.stubbing.StubImport.stubImport()
            .stub(get("/i").withId(id).willReturn(ok("theirs")))
            .stub(get("/j").willReturn(ok("one")))
            .stub(get("/j").willReturn(ok("two")))
            .ignoreExisting()
            .build());
    is("ignored", "200 mine", call("GET", "/i", null));
    is("the first of a list is tried first", "200 one", call("GET", "/j", null));
    importStubs(
        com.github.tomakehurst.wiremock.stubbing.StubImport.stubImport()
            .stub(get("/i").withId(id).willReturn(ok("theirs")))
            .deleteAllExistingStubsNotInImport()
            .build());
    is("overwritten", "200 theirs", call("GET", "/i", null));
    is("and no others", 1, listAllStubMappings().getMappings().size());
  }

  static void events() throws Exception {
    resetAllRequests();
    call("GET", "/i", null);
    call("GET", "/none?a=b", null);
    List<ServeEvent> events = getAllServeEvents();
    is("events", 2, events.size());
    is("latest first", "/none?a=b", events.get(0).getRequest().getUrl());
    is("not matched", false, events.get(0).getWasMatched());
    ServeEvent matched = events.get(1);
    is("matched", true, matched.getWasMatched());
    is("its mapping", "/i", matched.getStubMapping().getRequest().getUrl());
    is("its response", "theirs", matched.getResponse().getBodyAsString());
    is("its status", 200, matched.getResponse().getStatus());
    is("its parameter", "b", events.get(0).getRequest().queryParameter("a").firstValue());
    removeServeEvent(matched.getId());
    is("one is left", 1, getAllServeEvents().size());
  }

  static void refuses() throws Exception {
    try {
      stubFor(get(urlMatching("a(")).willReturn(ok()));
      fail("a pattern that is none was taken");
    } catch (RuntimeException expected) {
    }
    is("nothing has changed", 1, listAllStubMappings().getMappings().size());
    try {
      getSingleStubMapping(UUID.randomUUID());
      fail("a mapping that is none was found");
    } catch (RuntimeException expected) {
    }
  }

  static HttpResponse<String> last;

  static String call(String method, String path, String body, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path))
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    last = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    return last.statusCode() + " " + last.body();
  }

  static int status(String answer) {
    return Integer.parseInt(answer.substring(0, 3));
  }

  static void is(String what, Object want, Object got) {
    if (!want.equals(got)) {
      fail(what + ": got " + got + ", want " + want);
    }
  }

  static void fail(String what) {
    wrong++;
    System.out.println(what);
  }
}
