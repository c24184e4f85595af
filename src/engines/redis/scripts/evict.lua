-- Breaks exactly this hold, or takes exactly this waiter out of the queue, and tells its client.
--
-- KEYS[1]  state, as described in holders.lua
-- ARGV[1]  id, 16 bytes
--
-- Answers what it was: h holding | w waiting | g gone | c the key holds something else | d as in whole.lua

-- cluster: -- include whole.lua
-- include tell.lua
-- include slots.lua
-- include holders.lua
-- include queue.lua
-- include remove.lua
local r = read(KEYS[1], call('GET', KEYS[1]))
if not r then return 'c' end
-- cluster: if not whole(r.key, r.waits, r.mode ~= 'x') then return 'd' end
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local was = remove(r, ARGV[1], false, now)
save(r, now)
if was ~= 'g' then tell(ARGV[1], 'g') end
return was
