/** Whether a session plans, and the plan that came of it (tools-12 to tools-14). */
import {
  boolean,
  enums,
  integer,
  object,
  optional,
  string,
  type Collection,
  type CollectionSpec,
  type State,
} from '../../../core/plugin.js'
import { permissionModes, type PermissionMode } from '../tools/contract.js'

export type PlanArtifact = {
  readonly id: string
  readonly content: string
  readonly summary?: string
  readonly created_at_ms: number
  readonly updated_at_ms: number
}
/** Times in Unix ms. */
export type ControlState = {
  readonly session_id: string
  readonly plan_mode: boolean
  /** The mode that held when planning began; only while it lasts. */
  readonly pre_plan_mode?: PermissionMode
  readonly note?: string
  readonly plan_artifact?: PlanArtifact
}

const controlStates: CollectionSpec<ControlState> = {
  name: 'session_control_states',
  version: 1,
  id: ({ session_id }) => session_id,
  indexes: { planning: { group: ({ plan_mode, session_id }) => (plan_mode ? session_id : undefined) } },
  settled: ({ plan_mode }) => !plan_mode,
  schema: object({
    session_id: string(),
    plan_mode: boolean(),
    pre_plan_mode: optional(enums(permissionModes)),
    note: optional(string()),
    plan_artifact: optional(
      object({
        id: string(),
        content: string(),
        summary: optional(string()),
        created_at_ms: integer(),
        updated_at_ms: integer(),
      }),
    ),
  }),
  references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
}

export interface PlanStore {
  readonly states: Collection<ControlState>
  find(session_id: string): ControlState | undefined
  /** Asked for every call of every tool, so it reads no record. */
  planning(session_id: string): boolean
}

export const declareStore = (state: State): PlanStore => {
  const states = state.collection(controlStates)
  return { states, find: (id) => states.find(id), planning: (id) => states.count('planning', id) > 0 }
}
