-- Removes exactly this id from a name, then gives the next waiter its turn, for the scripts that include this file after
-- queue.lua. Returns what the id was. A hold that ends unclean stays as a ghost if it has a lock delay; a clean removal
-- also removes a ghost, but returns gone.
local function remove(r, id, clean, now)
  reap(r, now)
  local hold, was = find(r, id), 'g'
  if hold and hold.ends > now then was = 'h' end
  if hold and (clean or hold.delay == 0) then
    drop(r, hold)
  elseif was == 'h' then
    hold.ends, hold.lease = now, hold.delay
    if r.upgrader == id then r.upgrader, r.dirty = nil, true end
    put(r, hold)
  end
  if was == 'g' and leave(r, id) == 1 then was = 'w' end
  turn(r, now)
  return was
end
