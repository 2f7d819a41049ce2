/** The file of an agent. It holds the agent's tokens, and none of an operator. */
import { stringify } from 'smol-toml'
import { version } from '../../../../core/plugin.js'
import type { AgentFile } from '../client/agent-file.js'
import type { PlannedSource } from './sources.js'
import type { Batch, Machine } from './request.js'

/** What was made for a machine before it is told. */
export interface IssuedAgent {
  readonly machine: Machine
  readonly heartbeat_token: string
  readonly heartbeat_deadline_ms: number
  readonly token_expires_at_ms: number
  readonly sources: readonly PlannedSource[]
  /** Upload tokens by the id of their source. */
  readonly upload_tokens: ReadonlyMap<string, string>
}

const spoolRoots = {
  macos: '~/Library/Application Support/holdfast/capture',
  linux: '~/.local/state/holdfast/capture',
  windows: '~/AppData/Local/holdfast/capture',
} as const

const fileOf = (batch: Batch, agent: IssuedAgent): AgentFile => {
  const { machine_id, os_profile } = agent.machine
  const base_url = batch.daemon_base_url.replace(/\/+$/u, '')
  const { retention_seconds, max_active_observations, max_active_bytes } = batch
  return {
    capture_agent: {
      machine_id,
      batch_id: batch.batch_id,
      os_profile,
      heartbeat_url: `${base_url}/v1/capture-agents/${machine_id}/heartbeat`,
      heartbeat_token: agent.heartbeat_token,
      heartbeat_interval_ms: batch.heartbeat_interval_ms,
      heartbeat_grace_ms: batch.heartbeat_grace_ms,
      heartbeat_deadline_ms: agent.heartbeat_deadline_ms,
      token_expires_at_ms: agent.token_expires_at_ms,
    },
    daemon: { base_url, request_timeout_ms: 30_000, user_agent: `holdfast-capture/${version}` },
    spool: {
      root_dir: spoolRoots[os_profile],
      max_pending_items: 2048,
      max_pending_bytes: 536_870_912,
      upload_batch_size: 8,
      retry_initial_delay_ms: 500,
      retry_max_delay_ms: 30_000,
    },
    sources: agent.sources.map(({ driver, ...source }) => ({
      ...source,
      remote: {
        ensure_exists: false,
        upload_token: agent.upload_tokens.get(source.source_id) ?? '',
        retention_seconds,
        max_active_observations,
        max_active_bytes,
        allow_materialization: true,
        allow_output_delivery: false,
      },
      driver,
    })),
  }
}

/** The text of the file. */
export const renderFile = (batch: Batch, agent: IssuedAgent): string =>
  `# The capture agent ${agent.machine.machine_id}. Holds its tokens: keep it for its user alone.\n` +
  stringify(fileOf(batch, agent))
