-- Who holds a name, for people. Writes nothing.
--
-- KEYS[1]  the name
-- ARGV[1]  most fields that a lock may have: a larger hash is somebody's map
--
-- Answers a flat list: ms left, then field and count of each holder; empty: free; 'c': something else lies there
local left = redis.call('PTTL', KEYS[1])
if left == -2 then return {} end
if redis.call('HLEN', KEYS[1]) > ARGV[1] + 0 or left == -1 then return {'c'} end
local found = redis.call('HGETALL', KEYS[1])
table.insert(found, 1, string.format('%d', left))
return found
