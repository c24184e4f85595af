------------------------------ MODULE Failover ------------------------------
(* Tokens of one exclusive lock on Redis, where replicas follow later and one of them may be promoted while the old     *)
(* primary still grants. What is promised under which assumption: see README.md, and the table in `run`.                *)
(*                                                                                                                      *)
(* One step is one script or one event at a server. Asking, granting and answering are one step: a client that is       *)
(* answered later, or that asked earlier, only makes the order of tokens easier to keep. A client that never hears of   *)
(* its grant is one that writes nothing.                                                                                *)
(*                                                                                                                      *)
(* There are no clients as such. Whoever asks may have seen any token given so far, and whoever got one may show it to  *)
(* the resource at any time from then on: that is as many clients as one likes, each paused for as long as one likes.   *)
EXTENDS Integers, Sequences

CONSTANTS
  Servers,    \* 1..n; server 1 is the first primary
  Kind,       \* what a token is: "clock": max(last + 1, seen + 1, the server's time); "epoch": (config epoch, last + 1)
  Epochs,     \* a promotion "bumps" the epoch with the others' votes, or bumps it "alone", or it "stays" as it was
  ReadEpoch,  \* "inside" the granting script, or "after" it on the same connection
  Skew,       \* no two clocks are further apart, in ticks
  Steps,      \* clocks may be set forth and back within Skew
  Overlap,    \* a deposed primary grants on until it hears of the new one; else it stops before there is a new one...
  Gap,        \* ...by at least so many ticks
  Loses,      \* a server may lose its data at any time: FLUSHALL, eviction, a restart without them
  Sync,       \* a grant is on all replicas before it is answered
  Ttl,        \* of a lease, in ticks. 0: leases may end at any moment, also too early. Tokens must stand that
  Margin,     \* by how much a holder believes in its lease for a shorter time than the server
  GateIds,    \* the resource keeps the id beside the token and refuses an equal token of another id
  MaxTime, MaxGrants, MaxEpoch, MaxWrites

VARIABLES
  now,       \* true time. A script takes at least a tick, and so does every message
  offset,    \* of each server's clock
  role,      \* "primary", "replica" or "stopped"; a deposed primary is still one in its own eyes
  epoch,     \* as each server knows it
  data,      \* what each server stores: the last token part, and when the lease ends by the clock of whoever granted it
  stopped,   \* when the last primary stopped
  grants,    \* all of them, in the order they were given; the place in it is the id of the hold
  accepted   \* ids of the writes that the resource let in

vars == <<now, offset, role, epoch, data, stopped, grants, accepted>>

Max(set) == CHOOSE m \in set : \A other \in set : other <= m
Ids == DOMAIN grants
Nothing == [last |-> 0, until |-> 0]
Unread == 0                                     \* the token of a grant whose epoch is still to be read
Clock(s) == now + offset[s]
Busy(s) == \E i \in Ids : grants[i].server = s /\ grants[i].at = now
OfEpoch(e, count) == e * 100 + count            \* compared like the pair

Init ==
  /\ now = 1
  /\ offset \in {clocks \in [Servers -> 0..Skew] : \E s \in Servers : clocks[s] = 0}   \* only differences matter
  /\ role = [s \in Servers |-> IF s = 1 THEN "primary" ELSE "replica"]
  /\ epoch = [s \in Servers |-> 1]
  /\ data = [s \in Servers |-> Nothing]
  /\ stopped = 0
  /\ grants = <<>>
  /\ accepted = <<>>

Tick ==
  /\ now < MaxTime
  /\ now' = now + 1
  /\ UNCHANGED <<offset, role, epoch, data, stopped, grants, accepted>>

StepClock(s) ==
  /\ Steps
  /\ \E other \in 0..Skew : offset' = [offset EXCEPT ![s] = other]
  /\ UNCHANGED <<now, role, epoch, data, stopped, grants, accepted>>

\* What a client may know: it hears of a token in a later tick than that in which it was given.
Seen == {0} \cup {grants[i].token : i \in {j \in Ids : grants[j].back < now}}

Grant(s) ==
  /\ role[s] = "primary"
  /\ Len(grants) < MaxGrants
  /\ ~Busy(s)
  /\ data[s].until <= Clock(s)
  /\ \E seen \in IF Kind = "clock" THEN Seen ELSE {0} :
       LET last == IF Kind = "clock" THEN Max({data[s].last + 1, seen + 1, Clock(s)}) ELSE data[s].last + 1
           token == CASE Kind = "clock" -> last
                      [] ReadEpoch = "inside" -> OfEpoch(epoch[s], last)
                      [] OTHER -> Unread
           new == [last |-> last, until |-> IF Ttl = 0 THEN 0 ELSE Clock(s) + Ttl]
       IN /\ grants' = Append(grants, [server |-> s, epoch |-> epoch[s], at |-> now, back |-> now,
                                       last |-> last, token |-> token])
          /\ data' = [r \in Servers |-> IF r = s \/ (Sync /\ role[r] = "replica") THEN new ELSE data[r]]
  /\ UNCHANGED <<now, offset, role, epoch, stopped, accepted>>

LearnEpoch(i) ==
  /\ grants[i].token = Unread
  /\ grants' = [grants EXCEPT ![i].token = OfEpoch(epoch[grants[i].server], grants[i].last), ![i].back = now]
  /\ UNCHANGED <<now, offset, role, epoch, data, stopped, accepted>>

\* The state of a name is one value, so a replica has some earlier one. What it lacks when it is promoted is the lost tail.
Replicate(p, r) ==
  /\ role[p] = "primary" /\ role[r] = "replica" /\ ~Busy(p)
  /\ epoch[p] >= epoch[r]
  /\ data' = [data EXCEPT ![r] = data[p]]
  /\ epoch' = [epoch EXCEPT ![r] = epoch[p]]
  /\ UNCHANGED <<now, offset, role, stopped, grants, accepted>>

Stop(p) ==
  /\ ~Overlap
  /\ role[p] = "primary"
  /\ role' = [role EXCEPT ![p] = "stopped"]
  /\ stopped' = now
  /\ data' = [data EXCEPT ![p] = Nothing]       \* it comes back as a replica
  /\ UNCHANGED <<now, offset, epoch, grants, accepted>>

Promote(r) ==
  /\ role[r] = "replica"
  /\ ~Overlap => /\ \A s \in Servers : role[s] # "primary"
                 /\ now >= stopped + Gap
  /\ LET e == CASE Epochs = "bumps" -> 1 + Max({epoch[s] : s \in Servers})
                [] Epochs = "alone" -> 1 + epoch[r]
                [] Epochs = "stays" -> epoch[r]
     IN /\ e <= MaxEpoch
        /\ epoch' = [epoch EXCEPT ![r] = e]
  /\ role' = [role EXCEPT ![r] = "primary"]
  /\ stopped' = 0
  /\ UNCHANGED <<now, offset, data, grants, accepted>>

\* Whoever hears of a newer primary follows it, and its own data is gone.
Follow(s, p) ==
  /\ p # s
  /\ role[p] = "primary" /\ role[s] # "replica" /\ ~Busy(p)
  /\ epoch[p] >= epoch[s]
  /\ role' = [role EXCEPT ![s] = "replica"]
  /\ data' = [data EXCEPT ![s] = data[p]]
  /\ epoch' = [epoch EXCEPT ![s] = epoch[p]]
  /\ UNCHANGED <<now, offset, stopped, grants, accepted>>

Lose(s) ==
  /\ Loses
  /\ data' = [data EXCEPT ![s] = Nothing]
  /\ UNCHANGED <<now, offset, role, epoch, stopped, grants, accepted>>

\* What the gate remembers is what it let in last: no later one was smaller.
Write(i) ==
  /\ Len(accepted) < MaxWrites
  /\ grants[i].token # Unread
  /\ accepted # <<>> =>
       LET best == accepted[Len(accepted)]
       IN \/ grants[i].token > grants[best].token
          \/ grants[i].token = grants[best].token /\ (GateIds => i = best)
  /\ accepted' = Append(accepted, i)
  /\ UNCHANGED <<now, offset, role, epoch, data, stopped, grants>>

\* Writes touch nothing but the resource, so they may as well come last: which of them can come before which stays the same.
Next ==
  \/ /\ accepted = <<>>
     /\ \/ Tick
        \/ \E s \in Servers : StepClock(s) \/ Grant(s) \/ Stop(s) \/ Promote(s) \/ Lose(s)
        \/ \E s, t \in Servers : Replicate(s, t) \/ Follow(s, t)
        \/ \E i \in Ids : LearnEpoch(i)
  \/ now = MaxTime /\ \E i \in Ids : Write(i)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
Answered == {i \in Ids : grants[i].token # Unread}
Before(i, j) == grants[i].back < grants[j].at   \* i was answered before j was asked for

\* The resource applies no write with a token once it has seen a larger one, nor an equal one of another hold.
Fenced == \A m, n \in DOMAIN accepted :
  m < n => LET i == accepted[m] j == accepted[n]
           IN grants[i].token < grants[j].token \/ (grants[i].token = grants[j].token /\ i = j)

\* What it is for: after a write of a hold no write of an earlier one.
NoStaleWrite == \A m, n \in DOMAIN accepted : m < n => ~Before(accepted[n], accepted[m])

Order == \A i, j \in Answered : Before(i, j) => grants[i].token < grants[j].token

\* The same for those that are further apart than the clocks.
OrderApart == \A i, j \in Answered : grants[j].at > grants[i].back + Skew => grants[i].token < grants[j].token
NoStaleWriteApart == \A m, n \in DOMAIN accepted :
  m < n => ~(grants[accepted[m]].at > grants[accepted[n]].back + Skew)

\* A token that is too small comes from a primary of an older epoch than the one it should be larger than.
OrderButDeposed == \A i, j \in Answered :
  Before(i, j) /\ grants[j].token <= grants[i].token => grants[j].epoch < grants[i].epoch

Unique == \A i, j \in Answered : grants[i].token = grants[j].token => i = j

\* No two windows in which holders believe in their lease overlap.
Leased == \A i, j \in Ids : i < j => grants[j].at >= grants[i].at + Ttl - Margin
=============================================================================
