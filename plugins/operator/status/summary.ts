/** The status as a person reads it, with what to do next. */
import {
  array,
  boolean,
  integer,
  number,
  open,
  optional,
  string,
  visibleLine,
  showClockTime,
  showDay,
  showSize,
  visibleBlock,
  span,
  count,
  type Infer,
} from '../../../core/plugin.js'

const runCounts = {
  queued: integer(),
  running: integer(),
  waiting_for_approval: integer(),
  waiting_for_user_question: integer(),
  completed: integer(),
  failed: integer(),
  interrupted: integer(),
  cancelled: integer(),
}

export const StatusAnswer = open({
  status: string(),
  ready: optional(boolean()),
  version: string(),
  process_id: integer(),
  snapshot_at_ms: integer(),
  started_at_ms: integer(),
  boot: open({ total_ms: number() }),
  control_plane: open({ base_url: string(), auth_enabled: boolean() }),
  storage: open({
    ok: boolean(),
    probes: array(open({ path: string(), code: string() })),
    state_root_lock: open({ generation: integer() }),
    usage: optional(
      open({
        root_bytes: number(),
        free_bytes: number(),
        growth_bytes_per_day: optional(number()),
        full_at_ms: optional(number()),
      }),
    ),
  }),
  retention: optional(
    open({
      fallen: optional(
        array(open({ kind: optional(string()), archive: optional(string()), archive_gone: optional(boolean()) })),
      ),
    }),
  ),
  findings: optional(array(open({ severity: string() }))),
  plugins: array(open({ id: string(), state: string() })),
  provider_readiness: optional(
    open({
      routes: array(
        open({
          route_id: string(),
          model: string(),
          active: boolean(),
          state: string(),
          message: string(),
          held: optional(array(open({ until_ms: number() }))),
          waiting_calls: optional(integer()),
        }),
      ),
    }),
  ),
  sessions: optional(open({ total: integer() })),
  runs: optional(open({ total: integer(), ...runCounts })),
  health: open({
    warnings: optional(
      array(open({ severity: string(), code: string(), message: string(), action: optional(string()) })),
    ),
  }),
})
type Answer = Infer<typeof StatusAnswer>
type Usage = NonNullable<Answer['storage']['usage']>

const runsLine = (runs: NonNullable<Answer['runs']>): string => {
  const parts = Object.entries(runs)
    .filter(([status, runCount]) => status in runCounts && runCount > 0)
    .map(([status, runCount]) => `${runCount} ${status.replaceAll('_', ' ')}`)
  return parts.length === 0 ? '0' : `${runs.total}: ${parts.join(', ')}`
}

/** Plugins of one state that are told by name. */
const mostOdd = 3
/** Why a plugin is not ready is told by its warning. */
const pluginsLine = ({ plugins, storage }: Answer): string => {
  const ofState = new Map<string, string[]>()
  for (const { id, state } of plugins) ofState.set(state, [...(ofState.get(state) ?? []), id])
  const ready = ofState.get('ready')?.length ?? 0
  ofState.delete('ready')
  const told = ([state, ids]: readonly [string, readonly string[]]): string => {
    const are = state === 'registered' && !storage.ok ? 'wait for storage' : `are ${state}`
    if (ids.length <= mostOdd) return ids.map((id) => `${id} is ${state}`).join('; ')
    return `${ids.length} ${are}: ${ids.slice(0, mostOdd).join(', ')}, …`
  }
  return [`${ready} ready`, ...[...ofState].map(told)].join('; ')
}

/** Notes are there for who asks; what waits for somebody is a warning or an error. */
const findingsLine = (findings: NonNullable<Answer['findings']>): (readonly [string, string])[] => {
  const grave = findings.filter(({ severity }) => severity !== 'info').length
  const notes = findings.length - grave
  const parts = [...(grave > 0 ? [`${grave} to acknowledge`] : []), ...(notes > 0 ? [count(notes, 'note')] : [])]
  return parts.length === 0 ? [] : [['findings', `${parts.join(', ')}: holdfast state findings`]]
}

type ModelRoute = NonNullable<Answer['provider_readiness']>['routes'][number]
/** When all its models are asked again; undefined while they are. */
const heldUntil = ({ held = [] }: ModelRoute): string | undefined =>
  held.length === 0 ? undefined : showClockTime(Math.max(...held.map(({ until_ms }) => until_ms)))

/** A provider may have no model yet. */
const modelLine = (route: ModelRoute): string => {
  const { route_id, model, state, message } = route
  const name = visibleLine(model === '' ? route_id : `${route_id}/${model}`)
  const until = heldUntil(route)
  const pause = until === undefined ? '' : `calls held back until ${until}`
  if (state === 'ok') return [`${name}, ready`, pause].filter(Boolean).join('; ')
  return [`${name} is not ready: ${visibleLine(message)}`, pause].filter(Boolean).join('; ')
}

const remarkOn = (route: ModelRoute): string => {
  if (route.state !== 'ok') return ' (not ready)'
  return heldUntil(route) === undefined ? '' : ' (calls held back)'
}

const mostNamed = 20
/** Where there are several. */
const routesLine = (routes: readonly ModelRoute[]): string => {
  const names = routes.slice(0, mostNamed).map((route) => `${visibleLine(route.route_id)}${remarkOn(route)}`)
  return [...names, ...(routes.length > mostNamed ? ['…'] : [])].join(', ')
}

/** What the root holds and how long the disk lasts. */
const diskLine = ({ root_bytes, free_bytes, growth_bytes_per_day: growth, full_at_ms }: Usage): string => {
  const rate =
    growth === undefined ? '' : `, ${growth < 0 ? 'shrinks' : 'grows'} by ${showSize(Math.abs(growth))} a day`
  const end = full_at_ms === undefined ? '' : `, full on ${showDay(full_at_ms)}`
  return `${showSize(root_bytes)} in the state root, ${showSize(free_bytes)} free${rate}${end}`
}

/** One of each kind, which is the beginning of its name. */
const newestArchives = ({ retention }: Answer): readonly string[] => {
  const newest = new Map<string | undefined, string>()
  for (const { kind, archive, archive_gone: isGone } of retention?.fallen ?? [])
    if (archive !== undefined) newest.set(kind, `${visibleLine(archive)}${isGone === true ? ' (no longer there)' : ''}`)
  return [...newest.values()]
}

const facts = (answer: Answer): (readonly [string, string])[] => {
  const { control_plane, storage, provider_readiness, sessions, runs } = answer
  const { routes } = provider_readiness ?? { routes: [] }
  const active = routes.find((route) => route.active)
  return [
    ['url', `${control_plane.base_url}${control_plane.auth_enabled ? '' : ' (no token needed)'}`],
    [
      'state',
      `${visibleLine(storage.probes[0]?.path ?? '?')}, generation ${storage.state_root_lock.generation}, ` +
        `${storage.ok ? 'writable' : `not writable: ${storage.probes[0]?.code ?? '?'}`}`,
    ],
    ...(storage.usage === undefined ? [] : [['disk', diskLine(storage.usage)] as const]),
    ...newestArchives(answer).map((archive) => ['archive', archive] as const),
    ...(active === undefined ? [] : [['model', modelLine(active)] as const]),
    ...(routes.length < 2 ? [] : [['routes', routesLine(routes)] as const]),
    ...(sessions === undefined ? [] : [['sessions', String(sessions.total)] as const]),
    ...(runs === undefined ? [] : [['runs', runsLine(runs)] as const]),
    ...findingsLine(answer.findings ?? []),
    ['plugins', pluginsLine(answer)],
  ]
}

/** Before a warning of the refusal behind it, which would have people mend what is whole. */
const heldCalls = ({ provider_readiness, runs }: Answer): string | undefined => {
  const isWorking = (runs?.running ?? 0) > 0
  const holds = ({ active, waiting_calls = 0 }: ModelRoute): boolean => waiting_calls > 0 || (active && isWorking)
  const route = provider_readiness?.routes.find((one) => holds(one) && heldUntil(one) !== undefined)
  if (route === undefined) return undefined
  const name = visibleLine(route.route_id)
  return `Calls of ${name} wait until ${heldUntil(route)}, as its server asked: holdfast runs list`
}

type Warning = NonNullable<Answer['health']['warnings']>[number]
/** With what it is about: the sentences of a warning speak of what its message names. */
const mending = ({ code, action }: Warning): string =>
  action === undefined ? `See to ${visibleLine(code)}.` : `${visibleLine(code)}: ${action}`

/** The one thing to do now. */
export const nextStep = (answer: Answer): string => {
  const { status, health, runs, sessions } = answer
  const urgent = health.warnings?.find(({ severity }) => severity === 'error')
  if (status === 'draining') return 'The daemon is stopping. Start it again with: holdfast serve'
  if (urgent !== undefined) return mending(urgent)
  if (runs !== undefined && runs.waiting_for_approval > 0)
    return `${count(runs.waiting_for_approval, 'run waits', 'runs wait')} for approval: holdfast approvals list`
  if (runs !== undefined && runs.waiting_for_user_question > 0)
    return `${count(runs.waiting_for_user_question, 'run waits', 'runs wait')} for an answer: holdfast questions list`
  const held = heldCalls(answer)
  if (held !== undefined) return held
  const all = health.warnings ?? []
  const warnings = all.filter(({ severity }) => severity !== 'info')
  const [warning] = [...warnings.filter(({ action }) => action !== undefined), ...warnings]
  if (warning !== undefined) return mending(warning)
  if (sessions?.total === 0) return 'Create a session: holdfast sessions create'
  if (runs !== undefined && runs.running + runs.queued > 0) return 'Watch the work: holdfast events stream'
  const note = all.find(({ action }) => action !== undefined)
  if (note !== undefined) return mending(note)
  return 'Nothing needs you. List the runs: holdfast runs list'
}

const stateOf = ({ status, ready }: Answer): string =>
  status === 'ready' && ready === false ? 'up and not ready for work' : status

export const showStatus = (answer: Answer): string => {
  const head =
    `Holdfast ${answer.version} is ${stateOf(answer)}: process ${answer.process_id}, up ` +
    `${span(answer.snapshot_at_ms - answer.started_at_ms)}, started in ${Math.round(answer.boot.total_ms)} ms`
  const warnings = (answer.health.warnings ?? []).flatMap(({ severity, code, message, action }) => [
    `  ${severity} ${visibleLine(code)}: ${visibleBlock(message, 4)}`,
    ...(action === undefined ? [] : [`    ${visibleBlock(action, 4)}`]),
  ])
  const rows = facts(answer).map(([name, text]) => `  ${name.padEnd(9)} ${text}`)
  return [
    head,
    '',
    ...rows,
    ...(warnings.length > 0 ? ['', ...warnings] : []),
    '',
    `Next: ${visibleBlock(nextStep(answer), 6)}`,
  ].join('\n')
}
