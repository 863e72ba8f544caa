local paths, next = {"/products/1", "/products/2"}, 0
function request()
	next = next % 2 + 1
	return wrk.format("GET", paths[next])
end
