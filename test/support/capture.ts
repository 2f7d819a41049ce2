/** Agents that capture in tests: their files, and pictures for them to take. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { stringify } from 'smol-toml'
import { deflateSync } from 'node:zlib'
import type { AgentFile, FileSource } from '../../plugins/capture/capture-agents/client/agent-file.js'
import { freshFolder } from './folders.js'

export const heartbeatToken = 'hft_heartbeat_0123456789abcdef'
export const uploadToken = 'hft_upload_0123456789abcdef'

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})
const crcOf = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}
const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  crc.writeUInt32BE(crcOf(body))
  return Buffer.concat([length, body, crc])
}
/** A picture of four pixels in a colour of its own. */
export const pngOf = (colour: number): Buffer => {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(2, 0)
  head.writeUInt32BE(2, 4)
  head.set([8, 2], 8)
  const pixel = [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255]
  const row = [0, ...pixel, ...pixel]
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.from([...row, ...row]))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

export const screenSource = (more: Partial<FileSource> = {}): FileSource => ({
  source_id: 'macos-desk-screen',
  display_name: 'desk Main Display',
  kind: 'screen_snapshot',
  enabled: true,
  stream_id: 'screen:display:display-main',
  sensitivity: 'sensitive',
  trigger: { mode: 'interval', every_ms: 100 },
  remote: {
    ensure_exists: false,
    upload_token: uploadToken,
    retention_seconds: 3600,
    max_active_observations: 100,
    max_active_bytes: 1_000_000,
    allow_materialization: true,
    allow_output_delivery: false,
  },
  driver: {
    kind: 'macos_screen_snapshot',
    target: { target: 'main_display' },
    output_format: 'png',
    file_name_prefix: 'desk-screenshot',
    metadata: {
      schema: 'service.macos.capture.v1',
      machine_id: 'desk',
      os_profile: 'macos',
      capture_group_id: 'desk-capture',
      capture_group_kind: 'call_context',
      role: 'screenshot',
    },
  },
  ...more,
})

interface Given {
  readonly url: string
  readonly sources?: readonly FileSource[]
  readonly spool?: Partial<AgentFile['spool']>
  readonly heartbeat_interval_ms?: number
}

/** The file of an agent that tries again at once, with a spool of its own. */
export const agentFileOf = ({
  url,
  sources = [screenSource()],
  spool = {},
  heartbeat_interval_ms = 60_000,
}: Given): AgentFile => ({
  capture_agent: {
    machine_id: 'desk',
    batch_id: 'one',
    os_profile: 'macos',
    heartbeat_url: `${url}/v1/capture-agents/desk/heartbeat`,
    heartbeat_token: heartbeatToken,
    heartbeat_interval_ms,
    heartbeat_grace_ms: 1000,
    heartbeat_deadline_ms: 0,
    token_expires_at_ms: 0,
  },
  daemon: { base_url: url, request_timeout_ms: 30_000, user_agent: 'holdfast-capture/test' },
  spool: {
    root_dir: freshFolder(),
    max_pending_items: 100,
    max_pending_bytes: 1_000_000,
    upload_batch_size: 2,
    retry_initial_delay_ms: 10,
    retry_max_delay_ms: 20,
    ...spool,
  },
  sources: [...sources],
})

/** Writes it for its user alone; its path. */
export const writeAgentFile = (file: AgentFile | string): string => {
  const at = path.join(freshFolder(), 'agent.toml')
  writeFileSync(at, typeof file === 'string' ? file : stringify(file), { mode: 0o600 })
  return at
}
/** Where its captures wait. */
export const spoolOf = ({ spool, capture_agent }: AgentFile): string =>
  path.join(spool.root_dir, capture_agent.machine_id)
