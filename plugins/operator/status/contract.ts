/**
 * `/v1/status` and `/v1/capabilities` are put together from what each plugin contributes here (runtime-6).
 */
import {
  definePoint,
  hasMembers,
  isStruct,
  plainObject,
  withAnswers,
  type AnyStruct,
  type JsonObject,
  type Point,
} from '../../../core/plugin.js'

/** One member of `/v1/status`, or of its member `storage`. */
export interface StatusSection {
  /** The member's name, such as `runs`. */
  readonly name: string
  readonly schema: AnyStruct
  /**
   * Must be fast, must not throw and must not do I/O. Of a third-party plugin what it returns is copied: it must be
   * plain JSON of 256 KiB at most.
   */
  readonly collect: () => JsonObject
  /** Absent for a member of its own. */
  readonly within?: 'storage'
  /** Says nothing that is read from the state: it is shown also where that could not be loaded. */
  readonly withoutState?: true
}
/** What stands for a section that failed, and was charged. */
export const uncollected: JsonObject = Object.freeze({})
const mostSectionBytes = 256 * 1024
const isSection = hasMembers<StatusSection>('a section of the status', { name: 'id', collect: 'function' })
/** Members of `/v1/status` that are no sections. */
export const ownMembers = [
  'status',
  'ready',
  'version',
  'snapshot_at_ms',
  'process_id',
  'started_at_ms',
  'capabilities',
  'plugins',
  'boot',
  'storage',
  'control_plane',
  'events',
  'findings',
  'retention',
  'health',
] as const
/** Those of its member `storage`. */
export const ownStorageMembers = [
  'checked_at_ms',
  'ok',
  'write_error_count',
  'sequence',
  'probes',
  'usage',
  'state_root_lock',
] as const

/** The OpenAPI document has the schema of every section. */
const sectionFault = (section: StatusSection): string | undefined => {
  const reason = isSection(section)
  if (reason !== undefined) return reason
  const { name, schema, within } = section
  const taken: readonly string[] = within === 'storage' ? ownStorageMembers : ownMembers
  if (taken.includes(name)) return `the status has a member ${name} of its own, so no section of it can have this name`
  return isStruct(schema) ? undefined : 'the schema of a section of the status must be a struct'
}
/** Members of `/v1/status` by name. */
export const StatusSections: Point<StatusSection> = withAnswers(
  definePoint<StatusSection>('status-sections@1', (section) => section.name, sectionFault),
  { collect: { take: (collected: unknown) => plainObject(collected, mostSectionBytes), otherwise: uncollected } },
)

/** Booleans and versions that a plugin adds to `/v1/capabilities`. */
export interface CapabilityClaim {
  readonly name: string
  readonly value: boolean | number | string
}
const isNamed = hasMembers<CapabilityClaim>('a claim of a capability', { name: 'id' })
/** A number that JSON does not have would take all of the answer with it. */
const claimFault = (claim: CapabilityClaim): string | undefined => {
  const lacking = isNamed(claim)
  if (lacking !== undefined) return lacking
  const { name, value } = claim
  const fits = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  return fits ? undefined : `the value of the capability ${name} must be a text, a number or yes or no`
}
/** Members of `/v1/capabilities` by name. */
export const Capabilities: Point<CapabilityClaim> = definePoint<CapabilityClaim>(
  'capabilities@1',
  (claim) => claim.name,
  claimFault,
)

/** What a command that looks whether all is well found, and how it is shown. */
export { reportOf, showReport } from './doctor-report.js'
/** Its parts. */
export type { DoctorCheck, DoctorReport } from './doctor-report.js'
