-- Whether all of a name is here, for the scripts that run in a cluster and include this file.
--
-- While a slot is on its way to another node its keys go one by one. Where the state is, others of the name may be missing: gone
-- already, or not come yet. The node that gives the slot away lets nobody touch a key that is not there, so none can be made
-- either; the node that takes it lets nobody touch several keys at once of which one is not there, but any single one. So what
-- exists (the flags of the state say so) is asked for together with the state, and what may be made one by one. Elsewhere
-- EXISTS is never refused. A script asks before it writes anything, and answers d if it cannot do its work.
local function refused(...) return type(redis.pcall('EXISTS', ...)) == 'table' end

-- Whether something that exists is not here.
local function torn(key, waits, many)
  return waits and refused(key, key .. 'q', key .. 'w') or many and refused(key, key .. 'h')
end

-- Whether everything can be read, written and made here; `alone`: except the holders.
local function whole(key, waits, many, alone)
  local queue, waiters, holders = key .. 'q', key .. 'w', key .. 'h'
  if not refused(key, queue, waiters, holders) then return true end
  if torn(key, waits, many and not alone) then return false end
  if not waits and (refused(queue) or refused(waiters)) then return false end
  return alone or many or not refused(holders)
end
