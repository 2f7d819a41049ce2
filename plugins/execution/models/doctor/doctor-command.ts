/** `doctor routes`: whether models can be asked, and whether what names them names what is there. */
import {
  boolean,
  commandErrors,
  commandLine,
  defineCommand,
  integer,
  open,
  optional,
  parse,
  Problem,
  sentence,
  string,
  visibleLine,
  type CommandInput,
} from '../../../../core/plugin.js'
import { reportOf, showReport, type DoctorCheck, type DoctorReport } from '../../../operator/status/contract.js'
import { readinessOf, type Ready } from './readiness.js'
import { referenceChecks } from './references.js'
import { checkFile } from './routes-file.js'

const usualPatienceMs = 90_000
const [leastPatienceMs, mostPatienceMs] = [100, 600_000]

const wrong = (flag: string, problem: string) => commandErrors.flag_invalid({ details: { flag, problem } })

const refuseTogether = ({ flags }: CommandInput, flag: string, others: readonly string[]): void => {
  const other = flags[flag] === undefined ? undefined : others.find((one) => flags[one] !== undefined)
  if (other !== undefined) throw commandErrors.flags_together({ details: { flag: other, other: flag } })
}

const mostNamed = 20

/** The routes that the line means. */
const chosenOf = ({ flags }: CommandInput, routes: readonly Ready[]): readonly Ready[] => {
  const { route, 'default-route': isDefault } = flags
  const isMeant = ({ route_id, active }: Ready): boolean =>
    isDefault === true ? active : route === undefined || route_id === route
  const chosen = routes.filter(isMeant)
  if (chosen.length > 0 || typeof route !== 'string') return chosen
  const names = routes.slice(0, mostNamed).map(({ route_id }) => visibleLine(route_id))
  const others = routes.length > mostNamed ? `, or one of the ${routes.length - mostNamed} others` : ''
  throw wrong('route', `must be one of ${names.join(', ')}${others}`)
}

const nameOf = ({ route_id, model }: Ready): string => `route ${model === '' ? route_id : `${route_id}/${model}`}`

const readyCheck = (ready: Ready): DoctorCheck => {
  const { state, code, message, action, active } = ready
  const about = nameOf(ready)
  if (state === 'ok') return { about, ok: true, message: active ? 'is ready, the default' : 'is ready' }
  return { about, ok: false, code, message, ...(action !== undefined && { action }) }
}

const Slot = open({ details: open({ readable: boolean(), version: integer(), problem: optional(string()) }) })

/** A key that is no stored secret is looked for when the route is made: its readiness says how that went. */
const authCheck = async ({ client }: CommandInput, ready: Ready): Promise<DoctorCheck> => {
  const about = `key of ${nameOf(ready)}`
  const { auth_ref, state, code } = ready
  if (auth_ref === undefined)
    return state === 'error'
      ? { about, ok: false, code, message: 'it cannot be asked with what it has' }
      : { about, ok: true, message: 'is there, or it needs none' }
  const action = `Store it: ${commandLine('secrets set --stdin', auth_ref)}`
  try {
    const read = parse(Slot, await client.get(`/v1/runtime/secrets/${encodeURIComponent(auth_ref)}`))
    if (!read.ok) throw commandErrors.answer_unreadable({ details: { url: client.baseUrl } })
    const { readable, version, problem = 'it cannot be read' } = read.value.details
    return readable
      ? { about, ok: true, message: `is the secret ${auth_ref}, version ${version}` }
      : { about, ok: false, code: 'secret_unreadable', message: `the secret ${auth_ref}: ${problem}`, action }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'secret_not_found') throw error
    return { about, ok: false, code: error.code, message: error.message, action }
  }
}

const patienceOf = ({ flags }: CommandInput): number => {
  const given = flags['canary-timeout-ms']
  if (given === undefined) return usualPatienceMs
  const ms = /^\d+$/u.test(String(given)) ? Number(given) : 0
  if (ms < leastPatienceMs || ms > mostPatienceMs)
    throw wrong('canary-timeout-ms', `must be a number from ${leastPatienceMs} to ${mostPatienceMs}`)
  return ms
}

const Asked = open({
  answered: boolean(),
  answer: optional(string()),
  duration_ms: integer(),
  code: optional(string()),
  message: optional(string()),
})

const canaryCheck = async ({ client }: CommandInput, ready: Ready, timeout_ms: number): Promise<DoctorCheck> => {
  const { route_id } = ready
  const about = `canary of ${nameOf(ready)}`
  const read = parse(Asked, await client.send('POST', '/v1/runtime/model/check', { route_id, timeout_ms }))
  if (!read.ok) throw commandErrors.answer_unreadable({ details: { url: client.baseUrl } })
  const { answered, answer = '', duration_ms, code = 'unknown', message = 'nobody said why' } = read.value
  return answered
    ? { about, ok: true, message: `answered in ${duration_ms} ms: ${answer}` }
    : { about, ok: false, code, message: `does not answer: ${sentence(message)}` }
}

/** Told by route. */
const canaryChecks = async (input: CommandInput, routes: readonly Ready[]): Promise<Map<string, DoctorCheck>> => {
  const [checks, patience] = [new Map<string, DoctorCheck>(), patienceOf(input)]
  if (input.flags['canary'] === true)
    for (const ready of routes)
      if (ready.state !== 'error') checks.set(ready.route_id, await canaryCheck(input, ready, patience))
  return checks
}

const routeChecks = async (input: CommandInput): Promise<DoctorCheck[]> => {
  const { client, flags } = input
  const canaries = await canaryChecks(input, chosenOf(input, await readinessOf(client)))
  // What is known of a route is what came of its last call, which may be that of the canary.
  const routes = await readinessOf(client)
  const checks: DoctorCheck[] = []
  for (const ready of chosenOf(input, routes)) {
    checks.push(readyCheck(ready))
    if (flags['check-auth'] === true) checks.push(await authCheck(input, ready))
    checks.push(...[canaries.get(ready.route_id)].flatMap((canary) => canary ?? []))
  }
  if (flags['check-references'] === true)
    checks.push(...(await referenceChecks(client, new Set(routes.map(({ route_id }) => route_id)))))
  return checks
}

const doctorRoutes = async (input: CommandInput): Promise<DoctorReport> => {
  refuseTogether(input, 'route', ['default-route'])
  refuseTogether(input, 'canary-timeout-ms', ['routes-file'])
  refuseTogether(input, 'routes-file', ['route', 'default-route', 'check-auth', 'check-references', 'canary'])
  const file = input.flags['routes-file']
  return reportOf(await (typeof file === 'string' ? checkFile(input, file) : routeChecks(input)))
}

export const doctorRoutesCommand = defineCommand({
  path: ['doctor', 'routes'],
  summary: 'Whether each model route can be asked, and what to do where not; 1 unless all is well.',
  flags: {
    route: { kind: 'text', value: 'route_id', summary: 'This one alone.' },
    'default-route': { kind: 'switch', summary: 'The default route alone.' },
    'check-auth': { kind: 'switch', summary: 'Also whether what each is asked with is there.' },
    'check-references': {
      kind: 'switch',
      summary: 'Also whether sessions, schedules, hooks, skills and settings name routes that are there.',
    },
    canary: { kind: 'switch', summary: 'Also ask each model one small question.' },
    'canary-timeout-ms': {
      kind: 'text',
      value: 'number',
      summary: `How long an answer is waited for; ${usualPatienceMs} when absent.`,
    },
    'routes-file': {
      kind: 'text',
      value: 'file',
      summary: 'Look at this file as a daemon would, instead of at a daemon.',
    },
  },
  fields: { 'body.route_id': '--route', 'body.timeout_ms': '--canary-timeout-ms' },
  run: doctorRoutes,
  show: showReport,
  status: ({ ok }) => (ok ? 0 : 1),
})
