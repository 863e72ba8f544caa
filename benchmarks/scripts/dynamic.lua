local requests, next = {}, 0
function init(args)
	requests[1] = wrk.format("GET", "/greeting?name=Ada")
	requests[2] = wrk.format("POST", "/orders?currency=EUR", {["Content-Type"] = "application/json"},
		'{"items": [{"sku": "teapot", "quantity": 2}, {"sku": "kettle", "quantity": 1}], "customer": {"id": 7, "name": "Ada"}}')
end
function request()
	next = next % 2 + 1
	return requests[next]
end
