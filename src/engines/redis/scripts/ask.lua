-- Asks whoever holds the lock to give it back soon.
--
-- KEYS[1]  state
-- ARGV[1]  reason, for people
--
-- Answers how many holders were asked, as digits | c something else lies there
local state = redis.call('GET', KEYS[1])
if not state then return '0' end
if #state < 38 or string.sub(state, 1, 2) ~= 'T1' then return 'c' end
local expiry, _, holder = struct.unpack('>I7I7c16', state, 9)
local time = redis.call('TIME')
if expiry <= time[1] * 1000000 + time[2] then return '0' end

-- include queue.lua
tell(holder, 'a', ARGV[1])
return '1'
