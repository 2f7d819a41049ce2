import test from 'ava'
import { plan, type Plan } from '../../../core/retention/plan.js'
import type { PartitionFacts } from '../../../core/retention/queue.js'
import type { KindPolicy, Policy } from '../../../core/retention/policy.js'

const day = 86_400_000
const now = 1000 * day

interface Old extends Partial<PartitionFacts> {
  /** Days since its last change; none: it is written to. */
  readonly ended?: number
}
/** Partitions of a kind from the oldest, each of 10 records and 100 bytes. */
const partitions = (kind: string, ...olds: readonly Old[]): PartitionFacts[] =>
  olds.map(({ ended = 0, ...facts }, at) => ({
    kind,
    no: at + 1,
    from: now - (ended + 30) * day,
    since: now - (ended + 31) * day,
    to: now - ended * day,
    records: 10,
    bytes: 100,
    ...facts,
  }))

const policy = (
  kinds: Readonly<Record<string, Partial<KindPolicy>>>,
  rest: Partial<Omit<Policy, 'kinds'>> = {},
): Policy => ({
  minAge: day,
  unknown: [],
  ...rest,
  kinds: new Map(Object.entries(kinds).map(([kind, own]) => [kind, { isPromise: false, ...own }])),
})

const months = (...facts: readonly Partial<PartitionFacts>[]): PartitionFacts[] =>
  partitions('runs', { ended: 90, ...facts[0] }, { ended: 60, ...facts[1] }, { ended: 30, ...facts[2] }, {})

const told = ({ falls, stays }: Plan) => ({
  falls: falls.map(({ kind, no, cause }) => `${kind} ${no} by ${cause}`),
  stays: stays.map(({ kind, no, cause, held }) => `${kind} ${no} by ${cause}: ${held}`),
})

interface Row {
  readonly title: string
  readonly partitions: readonly PartitionFacts[]
  readonly policy: Policy
  readonly falls?: readonly string[]
  readonly stays?: readonly string[]
}

const whole = 'It falls as a whole, and what is to stay stands in it too.'
/** So many milliseconds from now on. */
const aged = (ms: number): string =>
  `It falls as a whole, from ${new Date(now + ms).toISOString().slice(0, 10)} on at the earliest: until then what is ` +
  'to stay stands in it too.'
const ahead = 'Its stamps are ahead of the clock: that was wrong when it was written.'
const vain = 'It is younger than what is held, and without it the root would hold more than max_bytes all the same.'

const rows: readonly Row[] = [
  { title: 'nothing falls where nothing is said', partitions: months(), policy: policy({ runs: {} }) },
  {
    title: 'what ended longer ago than max_age falls',
    partitions: months(),
    policy: policy({ runs: { maxAge: 60 * day } }),
    falls: ['runs 1 by age', 'runs 2 by age'],
  },
  {
    title: 'a partition whose last change is younger than max_age stays whole',
    partitions: months(),
    policy: policy({ runs: { maxAge: 60 * day + 1 } }),
    falls: ['runs 1 by age'],
    stays: [`runs 2 by age: ${aged(1)}`],
  },
  {
    title: 'so does one with old records that was written of late, as of a root that was copied',
    partitions: partitions('runs', { ended: 5, from: now - 5 * day, settledSince: now - 900 * day }),
    policy: policy({ runs: { maxAge: 365 * day } }),
    stays: [`runs 1 by age: ${aged(360 * day)}`],
  },
  {
    title: 'of a kind that is not in the policy nothing falls',
    partitions: months(),
    policy: policy({ deliveries: { maxAge: day } }),
  },
  {
    title: 'as many of the newest records stay as max_count says',
    partitions: months(),
    policy: policy({ runs: { maxCount: 20 } }),
    falls: ['runs 1 by count', 'runs 2 by count'],
  },
  {
    title: 'a partition that max_count needs a part of stays whole',
    partitions: months(),
    policy: policy({ runs: { maxCount: 21 } }),
    falls: ['runs 1 by count'],
    stays: [`runs 2 by count: ${whole}`],
  },
  {
    title: 'a partition no larger than the policy makes them needs no word',
    partitions: partitions('runs', ...Array.from({ length: 6 }, () => ({ ended: 2 }))),
    policy: policy({ runs: { maxCount: 55 } }),
  },
  {
    title: 'a partition of a clock that was ahead stays with its reason when what came behind it is old',
    partitions: partitions('runs', { ended: -3650 }, { ended: 90 }, {}),
    policy: policy({ runs: { maxAge: 60 * day } }),
    stays: [`runs 1 by age: ${ahead}`],
  },
  {
    title: 'what is younger than min_age stays though there are too many',
    partitions: partitions('runs', { ended: 2 }, { ended: 0.5 }, { ended: 0.2 }, {}),
    policy: policy({ runs: { maxCount: 1 } }),
    falls: ['runs 1 by count'],
    stays: ['runs 2 by count: It is younger than min_age.'],
  },
  {
    title: 'a partition that was written to today stays',
    partitions: partitions('runs', { records: 100 }, { records: 100 }),
    policy: policy({ runs: { maxCount: 1 } }),
    stays: ['runs 1 by count: It is younger than min_age.'],
  },
  {
    title: 'the newest partition falls too when nothing was written for so long',
    partitions: partitions('runs', { ended: 90 }),
    policy: policy({ runs: { maxAge: 60 * day } }),
    falls: ['runs 1 by age'],
  },
  {
    title: 'behind one that is held nothing of its kind falls, and others do',
    partitions: [
      ...months({ held: 'run_1 waits since 2026.' }),
      ...partitions('deliveries', { ended: 90 }, { ended: 1 }),
    ],
    policy: policy({ runs: { maxAge: 30 * day }, deliveries: { maxAge: 30 * day } }),
    falls: ['deliveries 1 by age'],
    stays: ['runs 1 by age: run_1 waits since 2026.'],
  },
  {
    title: 'to make room, what ended first falls first, of whatever kind',
    partitions: [
      ...partitions('runs', { ended: 90 }, { ended: 40 }, {}),
      ...partitions('deliveries', { ended: 60 }, { ended: 10 }, {}),
    ],
    policy: policy({ runs: {}, deliveries: {} }, { maxBytes: 301 }),
    falls: ['runs 1 by bytes', 'deliveries 1 by bytes', 'runs 2 by bytes'],
  },
  {
    title: 'what falls by age makes room too',
    partitions: months(),
    policy: policy({ runs: { maxAge: 60 * day } }, { maxBytes: 400 }),
    falls: ['runs 1 by age', 'runs 2 by age'],
  },
  {
    title: 'nothing falls where there is room',
    partitions: months(),
    policy: policy({ runs: {} }, { maxBytes: 600 }),
  },
  {
    title: 'what is held or young makes no room, and the next does where that is enough',
    partitions: [
      ...partitions('runs', { ended: 90, held: 'A run waits.' }, { ended: 50 }),
      ...partitions('deliveries', { ended: 20 }, { ended: 0.5 }),
    ],
    policy: policy({ runs: {}, deliveries: {} }, { maxBytes: 500 }),
    falls: ['deliveries 1 by bytes'],
    stays: ['runs 1 by bytes: A run waits.'],
  },
  {
    title: 'what is younger than what is held stays where the root would be too large without it too',
    partitions: [
      ...partitions('runs', { ended: 90 }, { ended: 60, held: 'A run waits.' }, { ended: 50 }),
      ...partitions('deliveries', { ended: 80 }, { ended: 55 }, { ended: 20 }, { ended: 0.5 }),
    ],
    policy: policy({ runs: {}, deliveries: {} }, { maxBytes: 150 }),
    falls: ['runs 1 by bytes', 'deliveries 1 by bytes'],
    stays: ['runs 2 by bytes: A run waits.', `deliveries 2 by bytes: ${vain}`],
  },
  {
    title: 'so does what is younger than what is held and due by itself',
    partitions: [
      ...partitions('runs', { ended: 90, held: 'A run waits.' }, {}),
      ...partitions('deliveries', { ended: 80 }, { ended: 20 }, {}),
    ],
    policy: policy({ runs: { maxAge: 60 * day }, deliveries: { maxAge: 60 * day } }, { maxBytes: 201 }),
    falls: ['deliveries 1 by age'],
    stays: ['runs 1 by age: A run waits.', `deliveries 2 by bytes: ${vain}`],
  },
  {
    title: 'what makes room is as old as what came behind it where a clock was ahead',
    partitions: [
      ...partitions('runs', { ended: -3650 }, { ended: 90 }, {}),
      ...partitions('deliveries', { ended: 100 }, { ended: 20 }, {}),
    ],
    policy: policy({ runs: {}, deliveries: {} }, { maxBytes: 250 }),
    falls: ['deliveries 1 by bytes'],
    stays: [`runs 1 by bytes: ${ahead}`, `deliveries 2 by bytes: ${vain}`],
  },
  {
    title: 'what is promised for a time makes no room before it is over',
    partitions: partitions('receipts', { ended: 100 }, { ended: 50 }, {}),
    policy: policy({ receipts: { maxAge: 90 * day, isPromise: true } }, { maxBytes: 1 }),
    falls: ['receipts 1 by age'],
  },
]

for (const { title, partitions: given, policy: own, falls = [], stays = [] } of rows)
  test(title, (t) => {
    t.deepEqual(told(plan({ partitions: given, bytes: 600, policy: own, now })), { falls, stays })
  })

test('what the root holds beyond max_bytes when nothing more may fall is told', (t) => {
  const given = { partitions: partitions('runs', { ended: 90 }, {}), bytes: 600, now }
  const over = (maxBytes: number) => plan({ ...given, policy: policy({ runs: {} }, { maxBytes }) }).over
  t.deepEqual([over(450), over(500), over(501)], [50, 0, 0])
})

test('where all that could ever fall is too little nothing makes room, and what is due by itself falls', (t) => {
  const given = { partitions: months(), bytes: 600, now }
  const own = (maxBytes: number, runs: Partial<KindPolicy> = {}) => policy({ runs }, { maxBytes })
  t.like(plan({ ...given, policy: own(199) }), { falls: [], over: 401, beside: 200 })
  t.is(plan({ ...given, policy: own(200) }).beside, undefined)
  t.is(plan({ ...given, lagging: 1, policy: own(199) }).beside, undefined, 'what waits may go one day')
  const aged = plan({ ...given, policy: own(199, { maxAge: 70 * day }) })
  t.like(told(aged), { falls: ['runs 1 by age'] })
  t.is(aged.over, 301)
})

test('what falls makes the room that it really takes, with what waits for nothing else', (t) => {
  const given = { partitions: months({ room: 100 }, { room: 10 }, { room: 10 }), bytes: 600, now }
  const own = policy({ runs: {} }, { maxBytes: 490 })
  t.is(plan({ ...given, policy: own }).falls.length, 2, 'not the 200 that two hold')
  t.is(plan({ ...given, freed: 10, policy: own }).falls.length, 1)
  const few = plan({ ...given, policy: policy({ runs: {} }, { maxBytes: 450 }) })
  t.is(few.falls.length, 3)
  t.is(few.over, 30)
})

const spanOf = ({ stays }: Plan) => stays.map(({ no, cause, records, bytes }) => ({ no, cause, records, bytes }))

test('what is due behind one that stays is told with it', (t) => {
  const held = { ended: 200, held: 'A run waits.' }
  const olds = [held, { ended: 90 }, { ended: 70 }, { ended: 40 }, { ended: 0.5 }, {}]
  const given = { partitions: partitions('runs', ...olds), bytes: 600, now }
  const stays = (runs: Partial<KindPolicy>, maxBytes?: number) =>
    spanOf(plan({ ...given, policy: policy({ runs }, { maxBytes }) }))
  t.deepEqual(stays({ maxAge: 60 * day }), [{ no: 1, cause: 'age', records: 30, bytes: 300 }])
  t.deepEqual(stays({ maxCount: 40 }), [{ no: 1, cause: 'count', records: 20, bytes: 200 }])
  t.deepEqual(stays({ maxCount: 1 }), [{ no: 1, cause: 'count', records: 40, bytes: 400 }], 'others are young')
  t.deepEqual(stays({ maxAge: 100 * day, maxCount: 30 }), [
    { no: 1, cause: 'age', records: 10, bytes: 100 },
    { no: 2, cause: 'count', records: 20, bytes: 200 },
  ])
  t.deepEqual(stays({}, 401), [{ no: 1, cause: 'bytes', records: 20, bytes: 200 }])
  const behind = partitions('runs', { ended: -3650, records: 1 }, { ended: 90 }, { ended: 70 }, {})
  const [told] = plan({ ...given, partitions: behind, policy: policy({ runs: { maxAge: 60 * day } }) }).stays
  t.like(told, { records: 21, since: now - 121 * day, to: now + 3650 * day })
})

test('what falls is told with its span, its records and its bytes', (t) => {
  const [fallen] = plan({
    partitions: months({ records: 7, bytes: 77 }),
    bytes: 0,
    policy: policy({ runs: { maxAge: 90 * day } }),
    now,
  }).falls
  t.deepEqual(fallen, {
    kind: 'runs',
    no: 1,
    from: now - 120 * day,
    since: now - 121 * day,
    to: now - 90 * day,
    records: 7,
    bytes: 77,
    cause: 'age',
  })
})
