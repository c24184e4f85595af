// The tables, statement by statement. Each may be run again.
#pragma once

#include <array>

namespace tyer::postgres {

inline constexpr std::array schema_ddl{
    "CREATE TABLE IF NOT EXISTS tyer_lock (name bytea PRIMARY KEY, hold bytea, claimed boolean NOT NULL DEFAULT false,"
    " session bigint, token bigint NOT NULL DEFAULT 0, expires bigint NOT NULL, version bigint NOT NULL DEFAULT 0,"
    " joins bigint NOT NULL DEFAULT 0, crowd boolean NOT NULL DEFAULT false, owner bytea, state bytea)"
    " WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000)",
    "CREATE TABLE IF NOT EXISTS tyer_wait (id bytea PRIMARY KEY, name bytea NOT NULL, seq bigint GENERATED ALWAYS AS "
    "IDENTITY,"
    " expires bigint NOT NULL, body bytea NOT NULL, UNIQUE (name, seq))",
    "CREATE TABLE IF NOT EXISTS tyer_session (id bigint PRIMARY KEY, expires bigint NOT NULL,"
    " ended boolean NOT NULL DEFAULT false, generation bigint NOT NULL DEFAULT 0) WITH (fillfactor=50)",
    "CREATE TABLE IF NOT EXISTS tyer_bell (client bytea NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, rung bigint "
    "NOT NULL,"
    " bell bytea, PRIMARY KEY (client, seq)) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000)",
    "CREATE TABLE IF NOT EXISTS tyer_schema (version integer PRIMARY KEY)",
    "INSERT INTO tyer_schema SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM tyer_schema) ON CONFLICT DO NOTHING",
};

}  // namespace tyer::postgres
