-- The queue of a name, for the scripts that include this file after tell.lua and holders.lua.
--
-- q is a sorted set of ids by ticket; w is a hash id -> '>I7I6c1I4I4' expiry of the place (server µs), place ms, mode, how many
-- permits of how many, then the owner. Both exist only while somebody waits, and both expire by themselves.

local function leave(r, id)
  call('ZREM', r.queue, id)
  return call('HDEL', r.waiters, id)
end

-- The head becomes a holder, at first only for the time of its place: it has to claim. The token part is made here, since
-- the lock changes its owner here. An unclaimed hold has no lock delay, since its owner never used it. It replaces a ghost
-- of the same id.
local function hand_over(r, id, place, ghost, now)
  local _, ms, mode, take, capacity = struct.unpack('>I7I6c1I4I4', place)
  if not fits(r, mode, take, capacity) then return false end
  if ghost then drop(r, read_hold(id, ghost)) end
  add(r, mode, {id = id, ends = now + ms * 1000, lease = ms, part = math.max(r.last + 1, now), delay = 0, claimed = false,
                slots = '', owner = string.sub(place, 23)}, take, capacity)
  return true
end

-- The last shared holder becomes exclusive.
local function upgrade(r, hold, now)
  drop(r, hold)
  hold.part = math.max(r.last + 1, now)
  add(r, 'x', hold)
end

-- A waiting upgrade goes before the queue. Returns whether the queue may go on.
local function turn_of_upgrade(r, now, asking)
  local hold = find(r, r.upgrader)
  if not hold or hold.ends <= now then
    r.upgrader, r.dirty = nil, true
  elseif r.n == 1 then
    upgrade(r, hold, now)
    if hold.id ~= asking then tell(hold.id, 'w') end
  end
  return not r.upgrader
end

-- Whether a place is valid, and whether it ends later than possible: then the server's clock was set back since its last
-- renewal.
local function is_good(place, now)
  if not place then return false end
  local ends, ms = struct.unpack('>I7I6', place)
  return ends > now, ends > now + ms * 1000
end

-- Whether the head is dead, or may be dead, while others could have its turn: beside shared holders nothing else has to end
-- for that. With an exclusive holder, or without a free permit, a hold must end first. `asking` is alive.
local function head_is_dead(r, now, asking)
  if r.upgrader or r.mode == 'x' or r.mode == 'p' and r.taken >= r.capacity then return false end
  local head = call('ZRANGE', r.queue, '0', '0')[1]
  if head == asking then return false end
  local good, too_late = is_good(head and call('HGET', r.waiters, head), now)
  return not good or too_late
end

-- After the clock was set back, dead places cannot be distinguished from live ones. So the first thousand are cut to the
-- longest time that they may have: live waiters renew their places meanwhile, and all dead ones together cost one such
-- time.
local function cut_places(r, now)
  local ids = call('ZRANGE', r.queue, '0', '999')
  for i, place in ipairs(#ids > 0 and call('HMGET', r.waiters, unpack(ids)) or {}) do
    local _, too_late = is_good(place, now)
    if too_late then
      local _, ms = struct.unpack('>I7I6', place)
      call('HSET', r.waiters, ids[i], struct.pack('>I7', now + ms * 1000) .. string.sub(place, 8))
    end
  end
end

-- Nobody waits any more. Deletes both keys completely: a place whose ticket the server has lost would never be found.
local function end_queue(r)
  call('DEL', r.queue)
  call('DEL', r.waiters)
  r.waits, r.dirty = false, true
end

-- Gives the heads of the queue their turn as long as they fit, and removes dead ones: at most about 1000 turns and 10000
-- dead in one call, since a script blocks the whole server. The others follow when the name is used next. The id that is
-- asking needs no message.
local function turn(r, now, asking)
  if r.upgrader and not turn_of_upgrade(r, now, asking) then return end
  local look, given = 2, 0
  for _ = 1, 11 do
    if not r.waits or given >= 1000 or r.n > 0 and (r.mode == 'x' or r.taken >= r.capacity and r.mode == 'p') then return end
    local ids = call('ZRANGE', r.queue, '0', look - 1)
    local places = #ids > 0 and call('HMGET', r.waiters, unpack(ids))
    local ghosts = places and r.n > 0 and call('HMGET', r.holders, unpack(ids)) or {}
    local out = {}
    for i, id in ipairs(ids) do
      local good, too_late = is_good(places[i], now)
      if too_late and not r.cut then
        cut_places(r, now)
        r.cut = true
      end
      if good then
        if not hand_over(r, id, places[i], ghosts[i], now) then break end
        if id ~= asking then tell(id, 'w') end
        given = given + 1
      end
      out[i] = id
    end
    if #out == #ids and #ids < look then return end_queue(r) end
    if #out > 0 then
      call('ZREM', r.queue, unpack(out))
      call('HDEL', r.waiters, unpack(out))
    end
    if #out < #ids then return end
    look = 1000
  end
end

-- Every script begins with this.
local function settle(r, now, asking)
  reap(r, now)
  turn(r, now, asking)
end
