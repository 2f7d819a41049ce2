/** Who is asked next, as tables: in each row exactly one thing decides. */
import test from 'ava'
import {
  budgetOf,
  mayBeAsked,
  priorities,
  queueOf,
  ranked,
  startsOf,
  type Candidate,
  type Claims,
  type Ranking,
} from '../../../../plugins/coordination/floor/turns/arbitration.js'
import type { AutonomyPolicy } from '../../../../plugins/coordination/channels/contract.js'

type Draft = Partial<Omit<Candidate, 'open_runs'>> & { readonly runs?: number }

const now = 1_000_000
const member = (session_id: string, { runs = 0, ...more }: Draft = {}): Candidate => ({
  session_id,
  mode: 'always_listen',
  muted: false,
  commented: false,
  reacted: false,
  open_runs: () => runs,
  ...more,
})
const ranking = (more: Partial<Ranking> = {}): Ranking => ({
  now,
  priority: [],
  cooldown_ms: 15_000,
  excluded: new Set(),
  ...more,
})

/** Every part below the one that decides speaks for the other one. */
const order: readonly (readonly [string, Record<string, Draft>, Partial<Ranking>, string])[] = [
  [
    '1: a place in the priority list beats all else',
    {
      b: { commented: true, reacted: true, mode: 'prefer_selected', runs: 9, spoke_at_ms: 1 },
      a: { mode: 'selected_only', spoke_at_ms: 900_000 },
    },
    { priority: ['b'] },
    'b a',
  ],
  [
    '1: the priority list is in order',
    { a: { mode: 'selected_only' }, b: { runs: 9 } },
    { priority: ['b', 'a'] },
    'b a',
  ],
  ['1: the first place of one that is named twice counts', { a: {}, b: {} }, { priority: ['b', 'a', 'b'] }, 'b a'],
  [
    '2: who has not commented comes before who has',
    { a: { commented: true, mode: 'selected_only', spoke_at_ms: 900_000 }, b: { reacted: true, runs: 9 } },
    {},
    'b a',
  ],
  [
    '3: who has not reacted comes before who has',
    { a: { reacted: true, mode: 'selected_only', spoke_at_ms: 900_000 }, b: { runs: 9 } },
    {},
    'b a',
  ],
  [
    '3: a reaction counts among those who have commented, too',
    { a: { commented: true, reacted: true }, b: { commented: true, runs: 9 } },
    {},
    'b a',
  ],
  [
    '4: selected_only comes before always_listen',
    { a: { spoke_at_ms: 900_000 }, b: { mode: 'selected_only', runs: 9 } },
    {},
    'b a',
  ],
  [
    '4: selected_only comes before prefer_selected that is not chosen',
    { a: { mode: 'prefer_selected', spoke_at_ms: 900_000 }, b: { mode: 'selected_only', runs: 9 } },
    {},
    'b a',
  ],
  [
    '4: prefer_selected that is not chosen is as always_listen',
    { b: { mode: 'prefer_selected', runs: 1 }, a: { mode: 'always_listen', runs: 2 } },
    {},
    'b a',
  ],
  ['5: who spoke last comes first', { a: { spoke_at_ms: 100 }, b: { spoke_at_ms: 200, runs: 9 } }, {}, 'b a'],
  ['5: who never spoke comes last', { a: {}, b: { spoke_at_ms: 1, runs: 9 } }, {}, 'b a'],
  [
    '5: who never spoke is last in this part alone',
    { a: { spoke_at_ms: 900_000, commented: true }, b: { reacted: true } },
    {},
    'b a',
  ],
  ['5: even at the beginning of time', { a: {}, b: { spoke_at_ms: 0, runs: 9 } }, {}, 'b a'],
  ['6: who has fewer open runs comes first', { a: { runs: 2 }, b: { runs: 1 } }, {}, 'b a'],
  [
    '6: that decides between those who spoke at the same time',
    { a: { runs: 1, spoke_at_ms: 5 }, b: { spoke_at_ms: 5 } },
    {},
    'b a',
  ],
  ['7: the id decides in the end', { b: {}, a: {}, c: {} }, {}, 'a b c'],
  ['7: by its characters', { a2: {}, a10: {}, B: {} }, {}, 'B a10 a2'],
]
for (const [title, members, more, expected] of order)
  test(`floor-3: ${title}`, (t) => {
    const candidates = Object.entries(members).map(([id, draft]) => member(id, draft))
    t.is(ranked(candidates, ranking(more)).join(' '), expected)
    t.is(ranked(candidates.toReversed(), ranking(more)).join(' '), expected)
  })

const filter: readonly (readonly [string, Record<string, Draft>, Partial<Ranking>, string])[] = [
  ['one that is muted is not asked', { a: { muted: true }, b: {} }, {}, 'b'],
  ['not even one that is addressed', { a: { muted: true }, b: {} }, { priority: ['a'] }, 'b'],
  ['manual_only is not asked', { a: { mode: 'manual_only' }, b: {} }, { priority: ['a'] }, 'b'],
  ['all other modes are', { a: { mode: 'selected_only' }, b: { mode: 'prefer_selected' }, c: {} }, {}, 'a b c'],
  ['one that is excluded is not', { a: {}, b: {} }, { priority: ['a'], excluded: new Set(['a']) }, 'b'],
  ['who spoke within the cooldown is left out', { a: { spoke_at_ms: now - 14_999 }, b: {} }, {}, 'b'],
  ['not any more when it is over', { a: { spoke_at_ms: now - 15_000 }, b: {} }, {}, 'a b'],
  ['nor if it is in the priority list', { a: { spoke_at_ms: now }, b: {} }, { priority: ['a'] }, 'a b'],
  ['nor without a cooldown', { a: { spoke_at_ms: now }, b: {} }, { cooldown_ms: 0 }, 'a b'],
  ['who never spoke has no cooldown', { a: {}, b: {} }, { cooldown_ms: 1e12 }, 'a b'],
  ['nobody is there', {}, {}, ''],
]
for (const [title, members, more, expected] of filter)
  test(`floor-2: ${title}`, (t) => {
    const candidates = Object.entries(members).map(([id, draft]) => member(id, draft))
    t.is(ranked(candidates, ranking(more)).join(' '), expected)
  })

test('floor-2: a session that is a member twice is asked once', (t) => {
  t.deepEqual(ranked([member('a'), member('a'), member('b')], ranking()), ['a', 'b'])
  t.false(mayBeAsked({ mode: 'manual_only', muted: false }))
})

test('floor-3: open runs are counted only where nothing else decides', (t) => {
  let counted = 0
  const counts = (id: string, more: Draft): Candidate => ({ ...member(id, more), open_runs: () => (counted += 1) })
  ranked([counts('a', { spoke_at_ms: 1 }), counts('b', { spoke_at_ms: 2 }), counts('c', {})], ranking())
  t.is(counted, 0)
})

const claims: readonly (readonly [string, Partial<Claims>, string])[] = [
  [
    'those who are addressed, in order',
    { addressed: ['x', 'y'], replied_to: 'r', in_thread: 't', in_channel: 'c', before: ['z'] },
    'x y',
  ],
  ['else who wrote what is replied to', { replied_to: 'r', in_thread: 't', in_channel: 'c', before: ['z'] }, 'r'],
  ['else who spoke last in the thread', { in_thread: 't', in_channel: 'c', before: ['z'] }, 't'],
  ['else, of a root, who spoke last in the channel', { in_channel: 'c', before: ['z'] }, 'c'],
  ['else who came first before', { before: ['z', 'y'] }, 'z y'],
  ['else nobody', {}, ''],
]
for (const [title, more, expected] of claims)
  test(`floor-4: first come ${title}`, (t) => {
    const none = { addressed: [], replied_to: undefined, in_thread: undefined, in_channel: undefined, before: [] }
    t.is(priorities({ ...none, ...more }).join(' '), expected)
  })

const policy = (speakers: number, replies: number): AutonomyPolicy => ({
  max_parallel_public_speakers: speakers,
  max_agent_replies_per_human_message: replies,
  member_cooldown_ms: 15_000,
  lease_timeout_ms: 60_000,
  max_pending_stimuli: 32,
  max_autonomous_root_posts_per_hour: 4,
  max_active_autonomous_roots: 1,
  quiet_period_ms_after_root_post: 300_000,
})

/** Speakers, replies, said, holders; budget, starts, places in the queue. */
const grants: readonly (readonly [number, number, number, number, number, number, number])[] = [
  [1, 3, 0, 0, 3, 1, 12],
  [1, 3, 0, 1, 2, 0, 12],
  [2, 3, 0, 1, 2, 1, 12],
  [5, 3, 0, 0, 3, 3, 12],
  [5, 3, 1, 1, 1, 1, 12],
  [5, 3, 3, 0, 0, 0, 12],
  [5, 3, 4, 0, 0, 0, 12],
  [5, 3, 2, 2, 0, 0, 12],
  [2, 1, 0, 0, 1, 1, 4],
  [1, 3, 0, 2, 1, 0, 12],
  [10, 1_000_000, 0, 0, 1_000, 10, 256],
]
for (const [speakers, replies, said, holders, budget, starts, queue] of grants)
  test(`floor-5: ${speakers} speakers, ${replies} replies, ${said} said, ${holders} hold: ${budget} left, ${starts} start`, (t) => {
    const thread = { policy: policy(speakers, replies), said, holders }
    t.is(budgetOf(thread), budget)
    t.is(startsOf(thread), starts)
    t.is(
      queueOf(
        thread.policy,
        Array.from({ length: 10_000 }, (_, n) => `s${n}`),
      ).length,
      queue,
    )
  })
