-- Breaks exactly this hold, or takes exactly this waiter out of the queue, and tells its client.
--
-- KEYS[1]  state (KEYS[2] queue, KEYS[3] waiters: may be left out)
-- ARGV[1]  id, 16 bytes
--
-- Answers what it was: h holding | w waiting | g gone | c something else lies there
local state = redis.call('GET', KEYS[1])
if state and (#state < 38 or string.sub(state, 1, 2) ~= 'T1') then return 'c' end

-- include queue.lua
-- include remove.lua
local was = remove(state, ARGV[1])
if was ~= 'g' then tell(ARGV[1], 'g') end
return was
