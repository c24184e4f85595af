-- Whether all keys of a name are on this node, for the scripts that run in a cluster and include this file.
--
-- While a slot is migrated to another node, its keys go one by one. On the node of the state, other keys of the name may be
-- missing: gone already, or not arrived yet. The source node refuses access to a key that is not there, so none can be
-- created either; the target node refuses a call with several keys of which one is not there, but accepts any single key.
-- So keys that exist (the flags of the state say which) are checked together with the state, and keys that may be created
-- one by one. Outside of a migration EXISTS is never refused. A script checks before it writes anything, and answers d if
-- it cannot do its work.
local function refused(...) return type(redis.pcall('EXISTS', ...)) == 'table' end

-- Whether a key that exists is not on this node.
local function torn(key, waits, many)
  return waits and refused(key, key .. 'q', key .. 'w') or many and refused(key, key .. 'h')
end

-- Whether all keys can be read, written and created here; `alone`: except the holders.
local function whole(key, waits, many, alone)
  local queue, waiters, holders = key .. 'q', key .. 'w', key .. 'h'
  if not refused(key, queue, waiters, holders) then return true end
  if torn(key, waits, many and not alone) then return false end
  if not waits and (refused(queue) or refused(waiters)) then return false end
  return alone or many or not refused(holders)
end
