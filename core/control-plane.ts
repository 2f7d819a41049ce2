/** The daemon's HTTP side, put together from its settings. */
import { checkFree } from './http/server/bind.js'
import { accessWarnings } from './access-warnings.js'
import type { Clock } from './base/clock.js'
import type { Bus } from './events/bus.js'
import type { Warning } from './base/health.js'
import type { ControlPlaneReport, TokenFileReport } from './host/contract.js'
import { errors as hostErrors } from './host/errors.js'
import { isLoopback } from './http/access/admit.js'
import { createAuth, type Auth, type AuthRecord } from './http/access/auth.js'
import { createUnready } from './http/access/unready.js'
import { createServer, type HttpServer, type ServerOptions, type StorageRefusals } from './http/server/server.js'
import { createRouteTable, type RouteTable } from './http/routes/table.js'
import { refuseSettings, type TokenFile, type TokenSource } from './http/access/tokens.js'
import type { Log } from './base/text/log.js'
import { connectionsWithin, openFilesLimit } from './state/disk/open-files.js'
import { parseBind, type Bind, type Settings } from './base/settings.js'
import { createGuarded } from './base/text/guarded.js'
import type { Secrets } from './base/text/secrets.js'
import { readSecretFile } from './state/side/secret-file.js'
import type { State, StorageHealth } from './state/contract.js'
import { storageErrors } from './state/storage-errors.js'
import { version } from './base/version.js'

export interface ControlPlaneOptions {
  readonly settings: Settings
  readonly bus: Bus
  readonly state: State
  readonly log: Log
  readonly clock: Clock
  readonly secrets: Secrets
  readonly ready: NonNullable<ServerOptions['ready']>
  readonly audit: (record: AuthRecord) => void
  readonly onFault: ServerOptions['onFault']
}

export interface ControlPlane {
  readonly server: HttpServer
  /** Filled by the plugins; core's own routes are in it from the start. */
  readonly routes: RouteTable
  /** Resolves with the address in use. */
  listen(): Promise<Bind>
  report(): ControlPlaneReport
  /** What is wrong with who may call. */
  warnings(): readonly Warning[]
}

const source = (token: string | undefined, file: string | undefined): TokenSource => ({
  ...(token !== undefined && { token }),
  ...(file !== undefined && { file }),
})

const bindOf = ({ bind }: Settings): Bind => parseBind(bind) ?? { host: '127.0.0.1', port: 4000 }

const tokensOf = (settings: Settings) => ({
  admin: source(settings.httpAdminToken, settings.httpAdminTokenFile),
  readOnly: source(settings.httpReadonlyToken, settings.httpReadonlyTokenFile),
})

/** Throws why the daemon could not listen now. */
export const checkAddress = (settings: Settings): Promise<void> => checkFree(bindOf(settings))

/** Throws why a daemon must not start with these settings. */
export const checkAccess = (settings: Settings): void => {
  const problem = refuseSettings({ mode: settings.httpAuthMode, host: bindOf(settings).host, ...tokensOf(settings) })
  if (problem !== undefined) throw problem
}

export const addressOf = ({ host, port }: Bind): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
const unspecified = new Set(['0.0.0.0', '::', '[::]'])

const fileReport = ({ role, path, readable, loaded }: TokenFile): TokenFileReport => ({
  role: role === 'read' ? 'read_only' : 'admin',
  path,
  readable,
  token_loaded: loaded,
  ...(!readable && { error: 'the file cannot be read' }),
})

const report = (auth: Auth, server: HttpServer, bound: Bind): ControlPlaneReport => {
  const tokens = auth.tokens.status()
  const loopback = isLoopback(bound.host)
  return {
    base_url: `http://${addressOf(bound)}`,
    bind_addr: addressOf(bound),
    bind_is_loopback: loopback,
    bind_is_unspecified: unspecified.has(bound.host),
    auth_enabled: auth.enabled,
    read_only_token_enabled: tokens.readOnly,
    auth_effective_admin_token_available: tokens.admin,
    auth_effective_read_only_token_available: tokens.readOnly,
    auth_token_file_count: tokens.files.length,
    auth_token_file_error_count: tokens.files.filter(({ readable }) => !readable).length,
    auth_duplicate_token: tokens.duplicate,
    ...(tokens.files.length > 0 && { auth_token_files: tokens.files.map(fileReport) }),
    cors_policy: server.cors.kind,
    cors_allowed_origin_count: server.cors.size,
    externally_exposed_without_auth: !loopback && !auth.enabled,
  }
}

const { storage_read_only, storage_write_failed, storage_sync_failed, storage_damaged, commit_too_large } =
  storageErrors
const storageProblems = [
  storage_read_only,
  storage_write_failed,
  storage_sync_failed,
  storage_damaged,
  commit_too_large,
]

const refusals = ({ loaded, mode, reason = mode }: StorageHealth): StorageRefusals => {
  if (!loaded) return { reads: storage_damaged() }
  return mode === 'ok'
    ? {}
    : { changes: storage_read_only({ details: { reason }, members: { reason }, retryAfter: 5 }) }
}

/** What a request saw is on disk before its answer leaves; what was undone meanwhile is never told. */
const watchState = ({ health, durable }: State): (() => Promise<void>) => {
  const since = health.undone
  return () => durable(since)
}

export const createControlPlane = ({
  settings,
  secrets,
  audit,
  clock,
  state,
  ...options
}: ControlPlaneOptions): ControlPlane => {
  const guarded = createGuarded(secrets.guard, clock)
  const unready = createUnready(clock, options.log)
  const auth = createAuth({
    mode: settings.httpAuthMode,
    ...tokensOf(settings),
    readFile: (path) => {
      const token = readSecretFile(path)
      guarded.set(path, [token])
      return Buffer.from(token)
    },
    clock,
    audit,
    unready,
  })
  // Its files are read, so that their tokens are redacted before anybody presents one.
  auth.tokens.status()
  const table = createRouteTable()
  const server = createServer({
    ...options,
    storage: () => refusals(state.health),
    watch: () => watchState(state),
    routes: table,
    auth,
    clock,
    version,
    problems: [...storageProblems, hostErrors.plugin_failed],
    corsOrigins: settings.httpCorsAllowOrigin,
    allowedHosts: settings.httpAllowHost,
    redact: (text) => secrets.redact(text),
    limits: {
      maxConnections: connectionsWithin(openFilesLimit()),
      bodyBytes: settings.httpBodyBytes,
      bodyWait: settings.httpBodyWaitMs,
    },
  })
  let bound = bindOf(settings)
  return {
    server,
    routes: table,
    listen: async () => {
      bound = { ...bound, port: (await server.listen(bound)).port }
      return bound
    },
    report: () => report(auth, server, bound),
    warnings: () => [
      ...accessWarnings(report(auth, server, bound), auth.tokens.status().shortest),
      ...unready.warnings(),
    ],
  }
}
