-- Several names in one call, for the scripts that include this file after queue.lua.
--
-- What is wrong with one name must not be in the way of the others, and an error is no fate: whatever was found out about a
-- name counts only when all that it led to stands at the server. A server that takes no writes (OOM, READONLY, MISCONF,
-- NOREPLICAS) refuses the first one of a script, so then nothing of that name was done.
local names, failed, wrong = {}, {}, nil

-- Something else than a lock is no error: then there is none.
local function get(key)
  local state = redis.pcall('GET', key)
  if type(state) == 'table' and not string.find(state.err, 'WRONGTYPE') then error(state, 0) end
  return state
end

-- The fate that `work` finds out, or u if it fails: then of everybody with that name.
local function try(key, work, ...)
  if failed[key] then return 'u' end
  local ok, fate = pcall(work, key, ...)
  if ok then return fate end
  failed[key], wrong = true, wrong or fate
  return 'u'
end

-- The answer, once all names are saved. If there is nothing to be said but what is wrong, it is that.
local function said(fates, now, live)
  for key, r in pairs(names) do try(key, function() save(r, now, live) end) end
  local known = #KEYS == 0
  for i, key in ipairs(KEYS) do
    if failed[key] then fates[i] = 'u' end
    known = known or fates[i] ~= 'u'
  end
  if not known then return {err = type(wrong) == 'table' and wrong.err or tostring(wrong)} end
  return table.concat(fates)
end
