/** `doctor`: whether the daemon is well, as far as it says itself, and whether a web page may call it. */
import {
  commandErrors,
  commandLine,
  defineCommand,
  parse,
  Problem,
  visibleLine,
  type CommandInput,
} from '../../../core/plugin.js'
import { StatusAnswer } from './summary.js'
import { reportOf, showReport, type DoctorCheck, type DoctorReport } from './doctor-report.js'

const wrongBy = (about: string, { code, message, action }: Problem): DoctorCheck => ({
  about,
  ok: false,
  code,
  message,
  ...(action !== undefined && { action }),
})

/** As whoever watches the daemon from outside asks it. */
const readiness = async ({ client }: CommandInput): Promise<DoctorCheck> => {
  try {
    await client.bytes('/readyz')
    return { about: 'readiness', ok: true, message: 'it takes work' }
  } catch (error) {
    if (error instanceof Problem) return wrongBy('readiness', error)
    throw error
  }
}

const statusChecks = async ({ client }: CommandInput): Promise<DoctorCheck[]> => {
  const read = parse(StatusAnswer, await client.get('/v1/status'))
  if (!read.ok) throw commandErrors.answer_unreadable({ details: { url: client.baseUrl } })
  const { version, process_id, health } = read.value
  return [
    { about: 'daemon', ok: true, message: `Holdfast ${version} answers at ${client.baseUrl}, process ${process_id}` },
    ...(health.warnings ?? []).map(({ severity, code, message, action }) => ({
      about: severity,
      ok: severity === 'info',
      code,
      message,
      action: action ?? `See it beside all else: ${commandLine('status')}`,
    })),
  ]
}

const originOf = ({ flags }: CommandInput): string | undefined => {
  const origin = flags['cors-origin']
  if (typeof origin !== 'string') return undefined
  if (!/^https?:\/\//u.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin.toLowerCase())
    throw commandErrors.flag_invalid({
      details: { flag: 'cors-origin', problem: 'must be an origin without a path, such as http://localhost:5173' },
    })
  return origin
}

/** What pages send to write: their token, and JSON. */
const [method, headers] = ['POST', 'authorization, content-type'] as const

const isLoopback = (origin: string): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/u.test(new URL(origin).hostname)

const letIn = (origin: string): string =>
  isLoopback(origin)
    ? `Start the daemon with ${origin} among the origins of --http-cors-allow-origin.`
    : 'No page of another machine may: serve the page from this one, or have its server call the daemon.'

const listed = (text: string | undefined): readonly string[] =>
  (text ?? '').split(',').map((word) => word.trim().toLowerCase())

/** The question that a browser asks before a page may call, and what it would make of the answer. */
const corsCheck = async ({ client }: CommandInput, origin: string): Promise<DoctorCheck> => {
  const about = `web pages of ${origin}`
  const refused = { about, ok: false, action: letIn(origin) }
  try {
    const told = await client.options('/v1/status', {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    })
    const allowed = told['access-control-allow-origin']
    const takes = [...listed(told['access-control-allow-methods']), ...listed(told['access-control-allow-headers'])]
    const lacks = [method.toLowerCase(), ...listed(headers)].filter((word) => !takes.includes(word))
    if (allowed !== origin && allowed !== '*')
      return { ...refused, code: 'cors_unanswered', message: 'the answer to a browser does not name them' }
    return lacks.length === 0
      ? { about, ok: true, message: 'may call, with a token where the daemon was started with one' }
      : { ...refused, code: 'cors_lacking', message: `may not send ${lacks.map(visibleLine).join(', ')}` }
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'daemon_unreachable') throw error
    return { ...wrongBy(about, error), action: letIn(origin) }
  }
}

const doctorReport = async (input: CommandInput): Promise<DoctorReport> => {
  const origin = originOf(input)
  const [daemon, ...warnings] = await statusChecks(input)
  return reportOf([
    ...(daemon === undefined ? [] : [daemon]),
    await readiness(input),
    ...warnings,
    ...(origin === undefined ? [] : [await corsCheck(input, origin)]),
  ])
}

export const doctor = defineCommand({
  path: ['doctor'],
  summary: 'Whether the daemon is well and what to do where it is not; 1 unless all is well.',
  flags: {
    'cors-origin': {
      kind: 'text',
      value: 'origin',
      summary: 'Also whether web pages of this origin may call, as a browser would ask.',
    },
  },
  run: doctorReport,
  show: showReport,
  status: ({ ok }) => (ok ? 0 : 1),
})
