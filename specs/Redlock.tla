------------------------------- MODULE Redlock -------------------------------
(* The token of a lock on several independent servers: 1 + the largest counter that a majority answered together with   *)
(* the lock, written back to a majority before anybody is told. See README.md, and the table in `run`.                  *)
(*                                                                                                                      *)
(* A lock may end at a node at any moment, also too early: a release, an expiry by a clock that jumped, a restart that  *)
(* kept the counter and lost the key are all the same step. So nothing here rests on time, and two attempts may well    *)
(* believe in their lock at once. What must hold is that their tokens differ, and are in order.                         *)
(*                                                                                                                      *)
(* Requests travel to every node at once and are carried out there at any time later, also when the attempt has long    *)
(* been given up: that is one that takes no further step itself. Answers are as slow: which of them were back when the  *)
(* token was made is a free choice.                                                                                     *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Nodes, Attempts,   \* an attempt is one acquire of one client, under an id of its own
  None,
  Owning,     \* a node writes back only while the attempt still owns the key there
  Counts,     \* which written nodes count: "all", or those "read" for the token, or those where the counter "grew" by it
  Needed,     \* how many must count before the attempt is told its token
  Resend,     \* a lock request may be carried out again at a node, after the first one's lock has ended
  Loses       \* a node may come back without its counter

VARIABLES
  owner, count,   \* of each node
  phase,          \* of each attempt: "new", "locking", "writing", "held"
  read,           \* the counter that came back with the lock, at each node
  made,           \* the nodes that the token was made from
  token, wrote,
  floor           \* the largest token that anybody had been told when the attempt began

vars == <<owner, count, phase, read, made, token, wrote, floor>>

Unread == -1
Majority == Cardinality(Nodes) \div 2 + 1
Max(set) == CHOOSE m \in set : \A other \in set : other <= m
Held == {a \in Attempts : phase[a] = "held"}

Init ==
  /\ owner = [n \in Nodes |-> None]
  /\ count = [n \in Nodes |-> 0]
  /\ phase = [a \in Attempts |-> "new"]
  /\ read = [a \in Attempts |-> [n \in Nodes |-> Unread]]
  /\ made = [a \in Attempts |-> {}]
  /\ token = [a \in Attempts |-> 0]
  /\ wrote = [a \in Attempts |-> {}]
  /\ floor = [a \in Attempts |-> 0]

Begin(a) ==
  /\ phase[a] = "new"
  /\ phase' = [phase EXCEPT ![a] = "locking"]
  /\ floor' = [floor EXCEPT ![a] = Max({0} \cup {token[b] : b \in Held})]
  /\ UNCHANGED <<owner, count, read, made, token, wrote>>

\* Carried out again, either answer may be the one that comes back.
Lock(a, n) ==
  /\ phase[a] # "new"
  /\ owner[n] = None
  /\ read[a][n] = Unread \/ Resend
  /\ owner' = [owner EXCEPT ![n] = a]
  /\ \E value \in {count[n], read[a][n]} \ {Unread} :
       read' = [read EXCEPT ![a][n] = IF phase[a] = "locking" THEN value ELSE 0]
  /\ UNCHANGED <<count, phase, made, token, wrote, floor>>

Make(a) ==
  /\ phase[a] = "locking"
  /\ \E back \in SUBSET {n \in Nodes : read[a][n] # Unread} :
       /\ Cardinality(back) >= Majority
       /\ made' = [made EXCEPT ![a] = back]
       /\ token' = [token EXCEPT ![a] = 1 + Max({read[a][n] : n \in back})]
  /\ phase' = [phase EXCEPT ![a] = "writing"]
  /\ read' = [read EXCEPT ![a] = [n \in Nodes |-> IF read[a][n] = Unread THEN Unread ELSE 0]]   \* no longer needed
  /\ UNCHANGED <<owner, count, wrote, floor>>

WriteBack(a, n) ==
  /\ phase[a] \in {"writing", "held"}
  /\ Needed > 0
  /\ n \notin wrote[a]
  /\ Owning => owner[n] = a
  /\ Counts = "read" => n \in made[a]
  /\ Counts = "grew" => count[n] < token[a]
  /\ count' = [count EXCEPT ![n] = Max({@, token[a]})]
  /\ wrote' = [wrote EXCEPT ![a] = @ \cup {n}]
  /\ UNCHANGED <<owner, phase, read, made, token, floor>>

Tell(a) ==
  /\ phase[a] = "writing"
  /\ Cardinality(wrote[a]) >= Needed
  /\ phase' = [phase EXCEPT ![a] = "held"]
  /\ UNCHANGED <<owner, count, read, made, token, wrote, floor>>

End(n) ==
  /\ owner[n] # None
  /\ owner' = [owner EXCEPT ![n] = None]
  /\ UNCHANGED <<count, phase, read, made, token, wrote, floor>>

Lose(n) ==
  /\ Loses
  /\ owner' = [owner EXCEPT ![n] = None]
  /\ count' = [count EXCEPT ![n] = 0]
  /\ UNCHANGED <<phase, read, made, token, wrote, floor>>

Next ==
  \/ \E a \in Attempts : Begin(a) \/ Make(a) \/ Tell(a)
  \/ \E a \in Attempts, n \in Nodes : Lock(a, n) \/ WriteBack(a, n)
  \/ \E n \in Nodes : End(n) \/ Lose(n)

Spec == Init /\ [][Next]_vars

Symmetry == Permutations(Nodes) \cup Permutations(Attempts)

-----------------------------------------------------------------------------
\* Larger than every token that anybody had been told when it was asked for.
Order == \A a \in Held : token[a] > floor[a]

Unique == \A a, b \in Held : token[a] = token[b] => a = b
=============================================================================
