/** The daemon's own settings: flags of `serve` and their variables (runtime-1). */
import path from 'node:path'
import { isListField, readLayers, variableOf, type Environment, type Flags, type Setting } from './config.js'
import { array, boolean, defaulted, doc, enums, integer, object, optional, rule, string, type Infer } from './schema.js'

export interface Bind {
  readonly host: string
  readonly port: number
}

const address = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]+)):(\d{1,5})$/u

/** `127.0.0.1:4000`, `localhost:0` or `[::1]:4000`. */
export const parseBind = (text: string): Bind | undefined => {
  const [, six, four, digits] = address.exec(text) ?? []
  const port = Number(digits)
  const host = six ?? four
  return host === undefined || port > 65_535 ? undefined : { host, port }
}

const filePath = () => string({ min: 1 })

/** What `serve` understands besides the plugins' flags. */
export const Settings = object({
  bind: doc(
    defaulted(
      rule(string(), 'must be <host>:<port>, with a port up to 65535', (text) => parseBind(text) !== undefined),
      '127.0.0.1:4000',
    ),
    'Address to listen on; port 0 takes a free one.',
  ),
  stateRoot: doc(defaulted(filePath(), './state'), 'Folder that holds everything the daemon knows.'),
  workspaceRoot: doc(defaulted(filePath(), '.'), 'Folder that sessions work in unless they say otherwise.'),
  logFormat: doc(
    defaulted(enums(['auto', 'json', 'pretty']), 'auto'),
    'Form of the log lines on standard error; auto is pretty on a terminal.',
  ),
  logLevel: doc(defaulted(enums(['debug', 'info', 'warn', 'error']), 'info'), 'Least level that is logged.'),
  eventHistoryCapacity: doc(defaulted(integer(), 2048), 'Events kept for replay; at least 1, at most 262144.'),
  eventHistoryBytes: doc(
    defaulted(integer({ min: 1_048_576 }), 67_108_864),
    'Most bytes of events kept for replay: where they are large, fewer are kept.',
  ),
  httpAuthMode: doc(
    defaulted(enums(['auto', 'bearer', 'none']), 'auto'),
    'auto asks for tokens when they are set or the address is not loopback.',
  ),
  httpAdminToken: doc(optional(string({ min: 1 })), 'Bearer token that may do everything.'),
  httpAdminTokenFile: doc(optional(filePath()), 'File with the admin token, read again on each request.'),
  httpReadonlyToken: doc(optional(string({ min: 1 })), 'Bearer token that may only read.'),
  httpReadonlyTokenFile: doc(optional(filePath()), 'File with the read-only token, read again on each request.'),
  httpCorsAllowOrigin: doc(
    defaulted(array(string({ min: 1 })), []),
    'Loopback origins whose pages may call, instead of all of them; separated by commas.',
  ),
  httpAllowHost: doc(
    defaulted(array(string({ min: 1 })), []),
    'Names that a Host header may carry beside loopback and the bound address; separated by commas.',
  ),
  httpBodyBytes: doc(
    defaulted(integer({ min: 33_554_432 }), 134_217_728),
    'Most bytes of request bodies in flight. Those above 1 MiB have three quarters, all above 64 KiB seven eighths.',
  ),
  httpBodyWaitMs: doc(
    defaulted(integer({ min: 0, max: 120_000 }), 10_000),
    'Most milliseconds that a request waits for room for its body, before it is refused.',
  ),
  drainMs: doc(
    defaulted(integer({ min: 0, max: 600_000 }), 10_000),
    'Most milliseconds that a stop waits for requests in flight.',
  ),
  safe: doc(defaulted(boolean(), false), 'Load no third-party code, nor a shipped plugin whose file is wrong.'),
  hold: doc(
    defaulted(boolean(), false),
    'Read and answer, but begin no run, schedule or delivery, until `holdfast release`; also through restarts.',
  ),
})
export type Settings = Infer<typeof Settings>

const variables = new Map<string, string>([
  ['http-admin-token', 'SERVICE_DAEMON_ADMIN_TOKEN'],
  ['http-admin-token-file', 'SERVICE_DAEMON_ADMIN_TOKEN_FILE'],
  ['http-readonly-token', 'SERVICE_DAEMON_READONLY_TOKEN'],
  ['http-readonly-token-file', 'SERVICE_DAEMON_READONLY_TOKEN_FILE'],
])

const flagOf = (field: string): string => field.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)

/** One setting for each field. */
export const daemonSettings: readonly Setting[] = Object.keys(Settings.schema).map((field) => {
  const flag = flagOf(field)
  return { flag, field, variable: variables.get(flag) ?? variableOf(flag, isListField(Settings, field)) }
})

export interface SettingsInput {
  readonly environment: Environment
  readonly flags: Flags
  readonly guard: (value: string) => void
}

/** Settings with absolute paths. */
export const readSettings = ({ environment, flags, guard }: SettingsInput): Settings => {
  const settings = readLayers<Settings>({
    struct: Settings,
    settings: daemonSettings,
    file: { name: 'the settings', table: {} },
    environment,
    flags,
    guard,
  })
  return {
    ...settings,
    stateRoot: path.resolve(settings.stateRoot),
    workspaceRoot: path.resolve(settings.workspaceRoot),
  }
}
