-- 2,000 random bytes, the worst case for compression, from a set that is made
-- once so that the generator itself stays cheap.
local bodies, next = {}, 0
function init(args)
	math.randomseed(42)
	for i = 1, 64 do
		local bytes = {}
		for j = 1, 2000 do
			bytes[j] = string.char(math.random(0, 255))
		end
		bodies[i] = wrk.format("POST", nil, {["Content-Type"] = "application/octet-stream"}, table.concat(bytes))
	end
end
function request()
	next = next % 64 + 1
	return bodies[next]
end
