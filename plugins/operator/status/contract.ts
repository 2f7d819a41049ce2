/**
 * `/v1/status` and `/v1/capabilities` are put together from what each plugin contributes here (runtime-6).
 */
import { definePoint, hasMembers, type AnyStruct, type JsonObject, type Point } from '../../../core/plugin.js'

/** One member of `/v1/status`, or of its member `storage`. */
export interface StatusSection {
  /** The member's name, such as `runs`. */
  readonly name: string
  readonly schema: AnyStruct
  /** Must be fast, must not throw and must not do I/O. */
  readonly collect: () => JsonObject
  /** Absent for a member of its own. */
  readonly within?: 'storage'
  /** Says nothing that is read from the state: it is shown also where that could not be loaded. */
  readonly withoutState?: true
}
/** Members of `/v1/status` by name. */
export const StatusSections: Point<StatusSection> = definePoint<StatusSection>(
  'status-sections@1',
  (section) => section.name,
  hasMembers('a section of the status', { name: 'text', collect: 'function' }),
)

/** Booleans and versions that a plugin adds to `/v1/capabilities`. */
export interface CapabilityClaim {
  readonly name: string
  readonly value: boolean | number | string
}
const isNamed = hasMembers<CapabilityClaim>('a capability', { name: 'text' })
/** Members of `/v1/capabilities` by name. */
export const Capabilities: Point<CapabilityClaim> = definePoint<CapabilityClaim>(
  'capabilities@1',
  (claim) => claim.name,
  (claim) =>
    isNamed(claim) ??
    (['boolean', 'number', 'string'].includes(typeof claim.value)
      ? undefined
      : `the value of the capability ${claim.name} must be yes or no, a number or a text`),
)

/** What a command that looks whether all is well found, and how it is shown. */
export { reportOf, showReport } from './doctor-report.js'
/** Its parts. */
export type { DoctorCheck, DoctorReport } from './doctor-report.js'
