/** The sources that a machine gets, and how it takes each. */
import type { Driver, FileSource } from '../client/agent-file.js'
import type { Batch, Machine } from './request.js'

/** What a source is before it has a token: as the file of the agent describes it. */
export type PlannedSource = Omit<FileSource, 'remote'>

interface Plan {
  readonly batch: Batch
  readonly machine: Machine
}
type Part = 'screen' | 'camera' | 'call-audio'

const groupOf = ({ machine_id }: Machine): string => `${machine_id}-capture`

const metadataOf = ({ machine }: Plan, role: string) => ({
  schema: `service.${machine.os_profile}.capture.v1`,
  machine_id: machine.machine_id,
  os_profile: machine.os_profile,
  capture_group_id: groupOf(machine),
  capture_group_kind: 'call_context',
  role,
})
const ownOf = (plan: Plan, role: string) => ({
  file_name_prefix: `${plan.machine.machine_id}-${role}`,
  metadata: metadataOf(plan, role),
})
const soundOf = ({ batch }: Plan, channel_count: number) => ({
  segment_duration_ms: batch.interval_ms,
  sample_rate_hz: 48_000,
  channel_count,
})

const screenDriver = (plan: Plan): Driver => ({
  kind: 'macos_screen_snapshot',
  target: { target: 'main_display' },
  output_format: 'png',
  ...ownOf(plan, 'screenshot'),
})
const cameraDriver = (plan: Plan): Driver => {
  const { camera_unique_id: unique_id, camera_name: name = '' } = plan.machine
  return {
    kind: 'macos_camera_snapshot',
    target: unique_id === undefined ? { target: 'name', name } : { target: 'unique_id', unique_id },
    output_format: 'jpeg',
    jpeg_quality: 92,
    external_only: true,
    reject_virtual: true,
    ...ownOf(plan, 'webcam'),
  }
}
const systemAudioDriver = (plan: Plan): Driver => ({
  kind: 'macos_system_audio',
  ...soundOf(plan, 2),
  buffer_capacity_ms: 2 * plan.batch.interval_ms,
  exclude_current_process: true,
  ...ownOf(plan, 'conversation'),
})
const microphoneDriver = (plan: Plan): Driver => ({
  kind: 'microphone',
  ...soundOf(plan, 1),
  ...(plan.machine.microphone_name !== undefined && { device_name: plan.machine.microphone_name }),
  ...ownOf(plan, 'microphone'),
})

const kinds = {
  screen: { kind: 'screen_snapshot', title: 'Main Display' },
  camera: { kind: 'webcam_snapshot', title: 'External Webcam' },
  'call-audio': { kind: 'microphone_segment', title: 'Call Audio' },
} as const

const planned = (
  { batch, machine }: Plan,
  part: Part,
  { stream_id, driver }: Pick<FileSource, 'stream_id' | 'driver'>,
): PlannedSource => {
  const { kind, title } = kinds[part]
  const { interval_ms: every_ms, max_runs, duration_ms } = batch
  return {
    source_id: `${machine.os_profile}-${machine.machine_id}-${part}`,
    display_name: `${machine.machine_id} ${title}`,
    kind,
    enabled: true,
    stream_id,
    sensitivity: 'sensitive',
    trigger: {
      mode: 'interval',
      every_ms,
      ...(max_runs !== undefined && { max_runs }),
      ...(duration_ms !== undefined && { duration_ms }),
    },
    driver,
  }
}

/** In the order of the file. The two sounds are two streams of one source. */
export const plannedSources = (batch: Batch, machine: Machine): readonly PlannedSource[] => {
  const plan = { batch, machine }
  const { screen, camera, system_audio, microphone } = batch.sources
  const call = `call:${groupOf(machine)}`
  const of = (part: Part, stream_id: string, driver: Driver): PlannedSource =>
    planned(plan, part, { stream_id, driver })
  return [
    ...(screen ? [of('screen', 'screen:display:display-main', screenDriver(plan))] : []),
    ...(camera ? [of('camera', 'camera:external:primary', cameraDriver(plan))] : []),
    ...(system_audio ? [of('call-audio', `${call}:conversation`, systemAudioDriver(plan))] : []),
    ...(microphone ? [of('call-audio', `${call}:microphone`, microphoneDriver(plan))] : []),
  ]
}
