local paths, next = {"/items/3?full=1", "/v1/kinds/4/x"}, 0
function request()
	next = next % 2 + 1
	return wrk.format("GET", paths[next])
end
