/** Puts `/v1/status` together from the host, the state and the sections of plugins. */
import {
  type Clock,
  type HostView,
  type Json,
  type JsonObject,
  type Log,
  type State,
  type StorageUsage,
  type Warning,
} from '../../../core/plugin.js'
import { collectCapabilities } from './capabilities.js'
import { StatusSections, uncollected, type CapabilityClaim, type StatusSection } from './contract.js'

export interface StatusParts {
  readonly host: HostView
  readonly state: State
  readonly clock: Clock
  readonly log: Log
  readonly sections: () => readonly StatusSection[]
  readonly claims: () => readonly CapabilityClaim[]
}

interface Collected {
  readonly members: Readonly<Record<string, JsonObject>>
  readonly storage: JsonObject
  readonly warnings: readonly Warning[]
}

const ofPlugin = (plugin: string | undefined): string => (plugin === undefined ? '' : ` of the plugin ${plugin}`)

const failed = (name: string, plugin: string | undefined): Warning => ({
  severity: 'error',
  code: 'status_section_failed',
  related_id: plugin ?? name,
  message: `The ${name} part of the status${ofPlugin(plugin)} could not be collected.`,
  action: 'See its fault in the log, and with: holdfast plugins list',
})

/** A section that fails is left out and told, and takes no other with it. */
const collectSections = ({ sections, log, state, host }: StatusParts): Collected => {
  const members: Record<string, JsonObject> = {}
  const storage: Record<string, Json> = {}
  const warnings: Warning[] = []
  for (const { name, collect, within, withoutState = false } of sections()) {
    if (!withoutState && !state.health.loaded) continue
    try {
      const collected = collect()
      if (collected === uncollected) warnings.push(failed(name, host.contributor(StatusSections, name)))
      else if (within === 'storage') storage[name] = collected
      else members[name] = collected
    } catch (error) {
      const plugin = host.contributor(StatusSections, name)
      log.error('a status section failed', { section: name, contributor: plugin, error })
      warnings.push(failed(name, plugin))
    }
  }
  return { members, storage, warnings }
}

const writable = { code: 'state_root_writable', message: 'Changes are written to the state root.' }

/** Times a real wait for the disk: until everything committed so far is on it. */
const probe = async ({ host, state, clock }: StatusParts): Promise<JsonObject> => {
  const began = clock.elapsed()
  const reached = await state.durable().then(
    () => true,
    () => false,
  )
  const { mode, reason, action } = state.health
  const ok = mode === 'ok' && reached && reason === undefined
  const refused = {
    code: reason ?? 'storage_write_probe_failed',
    message:
      mode === 'ok' && reached
        ? 'Changes are taken, but files beside the log cannot be written.'
        : 'The state root takes no changes.',
    ...(action !== undefined && { action }),
  }
  return {
    name: 'state_root',
    path: host.stateRoot,
    state: mode,
    writable: ok,
    latency_ms: clock.elapsed() - began,
    ...(ok ? writable : refused),
  }
}

/** Undefined where the files of the root cannot be looked at. */
const usageOf = ({ host, log }: StatusParts): Promise<StorageUsage | undefined> =>
  host.usage().catch((error: unknown) => {
    log.warn('the bytes of the state root could not be counted', { error })
    return undefined
  })

interface Storage {
  readonly probed: JsonObject
  readonly usage: StorageUsage | undefined
}
const storageOf = (parts: StatusParts, { probed, usage }: Storage): JsonObject => {
  const { health } = parts.state
  return {
    checked_at_ms: parts.clock.now(),
    ok: probed['writable'] === true,
    write_error_count: health.writeErrors,
    sequence: health.sequence,
    probes: [probed],
    ...(usage !== undefined && { usage }),
    state_root_lock: { ...parts.host.lock() },
  }
}

const probeWarning = (probed: JsonObject): Warning[] =>
  probed['writable'] === true
    ? []
    : [
        {
          severity: 'error',
          code: 'storage_write_probe_failed',
          message: String(probed['message']),
          related_id: String(probed['path']),
          ...(typeof probed['action'] === 'string' && { action: probed['action'] }),
        },
      ]

const numberIn = (member: JsonObject | undefined, field: string): number | undefined => {
  const value: Json | undefined = member?.[field]
  return typeof value === 'number' ? value : undefined
}

interface HealthParts {
  readonly began: number
  readonly warnings: readonly Warning[]
  readonly members: Readonly<Record<string, JsonObject>>
}

const healthOf = ({ clock }: StatusParts, { began, warnings, members }: HealthParts): JsonObject => {
  const { provider_readiness: readiness, schedules } = members
  const lag = numberIn(schedules, 'oldest_due_schedule_lag_ms')
  return {
    generated_at_ms: clock.now(),
    snapshot_duration_ms: clock.elapsed() - began,
    ok: warnings.every(({ severity }) => severity !== 'error'),
    route_error_count: numberIn(readiness, 'error_route_count') ?? 0,
    route_warning_count: numberIn(readiness, 'warning_route_count') ?? 0,
    ...(lag !== undefined && { scheduler_lag_ms: lag }),
    warnings: warnings.map((warning) => ({ ...warning })),
  }
}

export const collectStatus = async (parts: StatusParts): Promise<JsonObject> => {
  const { host, clock, claims } = parts
  const began = clock.elapsed()
  const [probed, usage] = await Promise.all([probe(parts), usageOf(parts)])
  const { members, storage, warnings } = collectSections(parts)
  const all = [...probeWarning(probed), ...warnings, ...host.warnings()]
  const ready = host.phase() === 'ready'
  const { loaded, mode } = parts.state.health
  return {
    status: ready ? 'ready' : 'draining',
    ready: ready && loaded && mode === 'ok',
    version: host.version,
    snapshot_at_ms: clock.now(),
    process_id: host.processId,
    started_at_ms: host.startedAtMs,
    capabilities: collectCapabilities(claims()),
    plugins: host.plugins(),
    boot: host.boot(),
    storage: { ...storage, ...storageOf(parts, { probed, usage }) },
    control_plane: host.controlPlane(),
    events: host.events(),
    findings: host.findings(),
    ...(loaded && { retention: host.retention() }),
    health: healthOf(parts, { began, warnings: all, members }),
    ...members,
  }
}
