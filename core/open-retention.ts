/** Retention of one daemon: its configuration is checked before the root is touched, the kinds are known later. */
import path from 'node:path'
import { assert } from './base/assert.js'
import type { Clock } from './base/clock.js'
import { errors } from './base/config.js'
import { Problem } from './base/errors.js'
import type { Warning } from './base/health.js'
import type { Ids } from './base/ids.js'
import { sentence } from './base/text/command-text.js'
import type { Log } from './base/text/log.js'
import type { JsonObject } from './base/schema.js'
import { readTomlFile } from './host/load/toml.js'
import type { Hold } from './records/hold.js'
import { policyFor, readConfig, type Policy, type RetentionConfig } from './retention/policy.js'
import { createRetention, type Retention } from './retention/retention.js'
import type { State } from './state/contract.js'
import type { Disk } from './state/disk/disk.js'
import type { Lock } from './state/root/lock.js'

export interface RetentionSource {
  readonly disk: Disk
  /** Values that stand in for files of `config/`, by their names, for an embedding program. */
  readonly config?: Readonly<Record<string, JsonObject>>
}

/** What the file of a root says, or the defaults where there is none. Throws `config_invalid`. */
export const retentionConfig = ({ disk, config = {} }: RetentionSource, root: string): RetentionConfig => {
  const table = config['retention']
  const file = table === undefined ? readTomlFile(disk, path.join(root, 'config', 'retention.toml')) : { table }
  return readConfig(file ?? { table: {} }, root)
}

export interface OpenRetentionParts extends RetentionSource {
  /** True: with a file that is wrong nothing falls, and the start goes on. */
  readonly safe: boolean
  readonly lock: Lock
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly state: State
  readonly hold: Pick<Hold, 'whenActing'>
}

export interface OpenRetention {
  /**
   * Call when the plugins have registered. Unless the start is a safe one, throws `config_invalid`, also for a kind
   * that none of them declares, if they are all here.
   */
  declared(complete: boolean): void
  /** What the configuration says now. Only then; throws `config_invalid`. */
  policyNow(): Policy
  /** Only then. */
  get(): Retention
  /** Looks now and then, unless the daemon holds. Returns the end. */
  begin(): () => void | Promise<void>
}

const wrongFile = ({ message }: Problem): Warning => ({
  severity: 'error',
  code: 'retention_config_invalid',
  message: `${sentence(message)} Nothing falls.`,
  action: 'Correct config/retention.toml and restart.',
})

export const openRetention = (parts: OpenRetentionParts): OpenRetention => {
  const { lock, state, hold, log, safe } = parts
  let retention: Retention | undefined
  let complete = true
  const get = (): Retention => {
    assert(retention, 'retention is asked for before the plugins have registered')
    return retention
  }
  const policyNow = (): Policy => policyFor(retentionConfig(parts, lock.root), state.retention, complete)
  const policyAtStart = (): { policy: Policy; fault?: Warning } => {
    try {
      return { policy: policyNow() }
    } catch (error) {
      if (!safe || !(error instanceof Problem) || error.code !== errors.config_invalid.code) throw error
      return { policy: policyFor(readConfig({ table: {} }, lock.root), state.retention), fault: wrongFile(error) }
    }
  }
  return {
    declared(all) {
      complete = all
      const started = policyAtStart()
      if (started.fault !== undefined) log.error(started.fault.message, { code: started.fault.code })
      retention = createRetention({ ...parts, root: lock.root, rootId: lock.facts.root_id, ...started })
    },
    get,
    policyNow,
    begin: () => hold.whenActing(() => get().begin()),
  }
}
