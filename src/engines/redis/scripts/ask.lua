-- Asks the holders of the lock to release it soon.
--
-- KEYS[1]  state, as described in holders.lua
-- ARGV[1]  reason, for people
--
-- Answers how many holders were asked, as digits | c the key holds something else | d as in whole.lua

-- cluster: -- include whole.lua
-- include tell.lua
-- include slots.lua
-- include holders.lua
-- include queue.lua
local r = read(KEYS[1], call('GET', KEYS[1]))
if not r then return 'c' end
-- cluster: if not whole(r.key, r.waits, r.mode ~= 'x') then return 'd' end
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
settle(r, now)
save(r, now)

local asked = 0
for _, hold in ipairs(find_all(r)) do
  if hold.ends > now then
    tell(hold.id, 'a', ARGV[1])
    asked = asked + 1
  end
end
return string.format('%d', asked)
