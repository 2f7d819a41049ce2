/** What agents are provisioned from, and what is wrong with it. */
import {
  array,
  boolean,
  defaulted,
  doc,
  enums,
  integer,
  notBlank,
  object,
  optional,
  string,
  type Infer,
} from '../../../../core/plugin.js'
import { BaseUrl, osProfiles } from '../client/agent-file.js'
import { captureErrors } from '../record/errors.js'
import { normalised } from './names.js'

const day = 86_400_000
const positive = () => integer({ min: 1 })
/** A length that leaves every time that is made with it one that a calendar has: a hundred years, milliseconds. */
const length = () => integer({ min: 1, max: 36_525 * day })
const device = () => optional(string({ min: 1, max: 200, pattern: notBlank }))
const Id = doc(
  string({ max: 100 }),
  'Letters, digits, dashes, underscores, dots and blanks; kept in small letters with single dashes.',
)

/** One machine of a batch. */
const AgentEntry = object({
  machine_id: Id,
  os_profile: optional(enums(osProfiles)),
  camera_unique_id: device(),
  camera_name: doc(device(), 'Where the camera is on, exactly one of these two.'),
  microphone_name: device(),
})

/** What agents are provisioned from. */
export const ProvisionRequest = object({
  batch_id: Id,
  daemon_base_url: doc(BaseUrl, 'Where the machines reach this daemon.'),
  os_profile: defaulted(enums(osProfiles), 'macos'),
  agents: array(AgentEntry, { min: 1, max: 1000 }),
  sources: defaulted(
    object({
      screen: defaulted(boolean(), true),
      camera: defaulted(boolean(), false),
      system_audio: defaulted(boolean(), false),
      microphone: defaulted(boolean(), false),
    }),
    { screen: true, camera: false, system_audio: false, microphone: false },
  ),
  interval_ms: defaulted(doc(length(), 'Time between two captures.'), 5000),
  max_runs: optional(doc(positive(), 'Captures, then the agent ends.')),
  duration_ms: optional(doc(length(), 'Time after which the agent ends.')),
  retention_seconds: defaulted(positive(), 604_800),
  max_active_observations: defaulted(positive(), 256),
  max_active_bytes: defaulted(positive(), 134_217_728),
  token_ttl_ms: defaulted(doc(length(), 'How long the tokens open.'), 7 * day),
  heartbeat_interval_ms: defaulted(length(), 30_000),
  heartbeat_grace_ms: defaulted(doc(length(), 'How much later than its interval a heartbeat may be.'), 120_000),
})
/** The value form of `ProvisionRequest`. */
export type ProvisionRequest = Infer<typeof ProvisionRequest>

/** A machine as it is provisioned. */
export interface Machine extends Omit<Infer<typeof AgentEntry>, 'os_profile'> {
  readonly os_profile: (typeof osProfiles)[number]
}
/** A batch as it is applied: ids as they are kept. */
export interface Batch extends Omit<ProvisionRequest, 'agents'> {
  readonly machines: readonly Machine[]
}
type Issues = { path: string; rule: string }[]

const idRule = 'must have a letter or a digit, and only letters, digits, dashes, underscores, dots and blanks'

const cameraIssues = ({ camera_unique_id, camera_name }: Machine, path: string): Issues => {
  if (camera_unique_id !== undefined && camera_name !== undefined)
    return [{ path: `${path}.camera_name`, rule: 'must not be given beside camera_unique_id' }]
  return camera_unique_id === undefined && camera_name === undefined
    ? [{ path: `${path}.camera_unique_id`, rule: 'or camera_name must be given where the camera is on' }]
    : []
}
const onlyMacos = ['screen', 'camera', 'system_audio'] as const
/** Told once of each system, at the field that asks for it. */
const sourceIssues = ({ sources }: ProvisionRequest, machines: readonly Machine[]): Issues => {
  const others = [...new Set(machines.map(({ os_profile }) => os_profile).filter((os) => os !== 'macos'))]
  return onlyMacos.flatMap((source) =>
    sources[source]
      ? others.map((os) => ({
          path: `body.sources.${source}`,
          rule: `must be false for ${os}, which has a microphone alone`,
        }))
      : [],
  )
}

const namedOnce = (ids: readonly (string | undefined)[]): Issues => {
  const first = new Map<string, number>()
  return ids.flatMap((id, at) => {
    const path = `body.agents.${at}.machine_id`
    if (id === undefined) return [{ path, rule: idRule }]
    const before = first.get(id)
    first.set(id, before ?? at)
    return before === undefined ? [] : [{ path, rule: `must be another than that of agents.${before}: both are ${id}` }]
  })
}

/** Throws `capture_provisioning_invalid` with every field that is wrong. */
export const batchOf = (request: ProvisionRequest): Batch => {
  const { agents, ...rest } = request
  const names = agents.map(({ machine_id }) => normalised(machine_id))
  const machines = agents.map((agent, at): Machine => ({
    ...agent,
    machine_id: names[at] ?? '',
    os_profile: agent.os_profile ?? request.os_profile,
  }))
  const batch_id = normalised(request.batch_id)
  const { screen, camera, system_audio, microphone } = request.sources
  const errors = [
    ...(batch_id === undefined ? [{ path: 'body.batch_id', rule: idRule }] : []),
    ...namedOnce(names),
    ...(screen || camera || system_audio || microphone
      ? []
      : [{ path: 'body.sources', rule: 'must turn at least one source on' }]),
    ...sourceIssues(request, machines),
    ...(camera ? machines.flatMap((machine, at) => cameraIssues(machine, `body.agents.${at}`)) : []),
  ]
  if (errors.length > 0 || batch_id === undefined)
    throw captureErrors.capture_provisioning_invalid({ errors: errors.slice(0, 20) })
  return { ...rest, batch_id, machines }
}
