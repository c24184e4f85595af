-- Several names in one call, for the scripts that include this file after queue.lua.
--
-- An error for one name must not affect the others, and an error is no fate: a result for a name counts only when all its
-- writes were done. A server that accepts no writes (OOM, READONLY, MISCONF, NOREPLICAS) refuses the first write of a
-- script, so then nothing was done for that name.
local names, failed, wrong = {}, {}, nil

-- A key of another type is no error: then there is no lock.
local function get(key)
  local state = redis.pcall('GET', key)
  if type(state) == 'table' and not string.find(state.err, 'WRONGTYPE') then error(state, 0) end
  return state
end

-- The fate that `work` returns, or u if it fails: then for all ids of that name.
local function try(key, work, ...)
  if failed[key] then return 'u' end
  local ok, fate = pcall(work, key, ...)
  if ok then return fate end
  failed[key], wrong = true, wrong or fate
  return 'u'
end

-- The answer, once all names are saved. If every name has failed, the error is the answer.
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
