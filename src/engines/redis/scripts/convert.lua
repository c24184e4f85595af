-- Makes an exclusive hold shared, or a shared one exclusive. Idempotent. The hold lives as long as before.
--
-- KEYS[1]  state, as described in holders.lua
-- ARGV[1]  id, 16 bytes
-- ARGV[2]  packed '>c1I7': mode it is to have (x or s), not after (server µs)
--
-- Answers  t<token part> <ms left>: granted | q0 <look again ms>: waits to be the only holder | b<ms> another upgrade waits
--          already | g there is no such hold | u permits cannot be converted | p token parts are used up
--          l<server µs> too late, nothing done | c the key holds something else | d as in whole.lua

-- cluster: -- include whole.lua
-- include tell.lua
-- include slots.lua
-- include holders.lua
-- include queue.lua
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local to, not_after = struct.unpack('>c1I7', ARGV[2])
if now > not_after then return string.format('l%.0f', now) end
local r = read(KEYS[1], call('GET', KEYS[1]))
if not r then return 'c' end
-- cluster: if not whole(r.key, r.waits, r.mode ~= 'x') then return 'd' end
settle(r, now)

-- A fence may have seen the old token as exclusive, so a shared hold needs a new one.
local function downgrade(hold)
  hold.part = math.max(r.last + 1, now)
  drop(r, hold)
  add(r, 's', hold)
end

local function answer()
  local hold = find(r, ARGV[1])
  if not hold or hold.ends <= now then return 'g' end
  if r.mode == 'p' then return 'u' end
  if to == 's' and r.mode == 'x' then
    downgrade(hold)
  elseif to == 's' and r.upgrader == hold.id then
    r.upgrader, r.dirty = nil, true
  elseif to == 'x' and r.mode == 's' then
    local look = math.ceil((r.expiry - now) / 1000)
    -- Two holders that wait for each other's shared hold would wait for ever: the second must release instead.
    if r.upgrader and r.upgrader ~= hold.id then return string.format('b%d', look) end
    if r.n > 1 then
      -- With a lock delay, the hold that upgrades ends earlier than the time at which others may have the lock.
      r.upgrader, r.expiry, r.dirty = hold.id, math.min(r.expiry, hold.ends), true
      return string.format('q0 %d', look + 1)
    end
    upgrade(r, hold, now)
  end
  if hold.part > 9007199254740991 then return 'p' end
  return string.format('t%.0f %d', hold.part, math.floor((hold.ends - now) / 1000))
end
local said = answer()
turn(r, now)
save(r, now)
return said
