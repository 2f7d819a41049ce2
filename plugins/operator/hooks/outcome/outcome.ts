/** What a hook answers, as a ruling. */
import {
  answerOf,
  array,
  boolean,
  doc,
  enums,
  isJsonObject,
  isShallow,
  json,
  nearest,
  open,
  optional,
  parse,
  redactedTo,
  string,
  toldLine,
  unsafeCast,
  visibleLine,
  type Json,
  type JsonObject,
  type Mind,
} from '../../../../core/plugin.js'
import { PermissionUpdate } from './permissions.js'
import type { Ruling } from '../../../execution/interception/contract.js'

const Permission = enums(['allow', 'deny', 'ask'])
const strictFirst = ['deny', 'ask', 'allow'] as const
/** What hooks of other programs say and what means nothing here. */
const unused = (what: string) => optional(doc(json(), what))
const ownFields = {
  hookEventName: unused('Taken, and not looked at.'),
  permissionDecision: optional(doc(Permission, 'As `permission`.')),
  permissionDecisionReason: optional(doc(string(), 'As `reason`.')),
  updatedInput: optional(doc(json(), 'As `updated_input`.')),
  additionalContext: optional(doc(string(), 'As one of `additional_contexts`.')),
}
/** What compatible programs may ask for, and what nothing here does: hooks that send whole outcomes leave it empty. */
const wishes = {
  initial_user_message: unused('Nothing here does it: taken where it is empty, else told (hooks-29).'),
  watch_paths: unused('Nothing here does it: taken where it is empty, else told (hooks-29).'),
  retry: unused('Nothing here does it: taken where it is empty, else told (hooks-29).'),
}
const fields = {
  continue_execution: optional(doc(boolean(), 'False blocks.')),
  continue: optional(doc(boolean(), 'As `continue_execution`.')),
  stop_reason: optional(doc(string(), 'Why, where there is no `reason`.')),
  stopReason: optional(doc(string(), 'As `stop_reason`.')),
  decision: optional(
    doc(enums(['approve', 'block']), '`block` blocks, `approve` is the permission `allow` where there is none.'),
  ),
  reason: optional(doc(string(), 'Why; 4,000 characters count.')),
  permission: optional(doc(Permission, 'About a call; the strictest of several counts (hooks-4).')),
  updated_input: optional(doc(json(), 'In place of the input of a call, or of the text of a prompt.')),
  updated_output: optional(doc(json(), 'In place of the output of a call.')),
  updated_permissions: optional(
    doc(array(PermissionUpdate, { max: 50 }), 'Permission rules for the session (hooks-20).'),
  ),
  additional_contexts: optional(
    doc(array(string(), { max: 20 }), 'Texts that the model reads beside it; 32,000 characters of each count.'),
  ),
  matched_hooks: unused('Taken, and not looked at: who was asked is known.'),
  ...wishes,
  suppressOutput: unused('Taken, and not looked at: nothing here shows what a hook puts out.'),
  systemMessage: unused('Taken, and not looked at.'),
  hookSpecificOutput: optional(open(ownFields)),
}
/** Own names; those that hooks of other programs use stand beside them. Others are told by name (hooks-29). */
export const Outcome = open(fields)

type Own = keyof typeof fields | keyof typeof ownFields
/** What of an outcome, or of the object in it, makes a difference by itself. */
export const deeds: readonly string[] = [
  'continue_execution',
  'continue',
  'decision',
  'permission',
  'updated_input',
  'updated_output',
  'updated_permissions',
  'additional_contexts',
  'hookSpecificOutput',
  'permissionDecision',
  'updatedInput',
  'additionalContext',
] satisfies readonly Own[]

/** Names that are told at most, and characters of one. */
const [mostStrange, mostName] = [5, 60]
const own = 'hookSpecificOutput'

const isEmpty = (value: Json | undefined): boolean =>
  value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0)
const isTaken = (name: string, value: Json | undefined): boolean =>
  Object.hasOwn(wishes, name) ? isEmpty(value) : Object.hasOwn(fields, name)

/** Members that nobody looks at, by their paths: misspelt ones, or of a convention that is not known here. */
const strangeIn = (outcome: JsonObject): string[] => {
  const inner = outcome[own]
  const paths = [
    ...Object.keys(outcome).filter((name) => !isTaken(name, outcome[name])),
    ...(isJsonObject(inner) ? Object.keys(inner) : [])
      .filter((name) => !Object.hasOwn(ownFields, name))
      .map((name) => `${own}.${name}`),
  ]
  return paths.slice(0, mostStrange).map((path) => visibleLine(path.slice(0, mostName)))
}

const meantBy = (path: string): string | undefined => {
  const inner = path.startsWith(`${own}.`)
  const meant = nearest(inner ? path.slice(own.length + 1) : path, Object.keys(inner ? ownFields : fields))
  return meant === undefined || !inner ? meant : `${own}.${meant}`
}

/** `descision (decision?)`. */
export const strangeText = (paths: readonly string[]): string =>
  paths
    .map((path) => {
      const meant = meantBy(path)
      return meant === undefined ? path : `${path} (${meant}?)`
    })
    .join(', ')

/** Characters of a reason, and of one text that is added. */
const mostReason = 4_000
const mostContext = 32_000

export type Answered =
  | {
      readonly ruling: Ruling | undefined
      readonly permissions?: readonly PermissionUpdate[]
      /** Members of the outcome that nobody looks at. */
      readonly strange?: readonly string[]
    }
  | { readonly fault: string }

/** Characters of what a hook that failed said. */
export const mostTold = 300

/** The failure of a hook, with the beginning of what it said, safe to show. */
export const faultWith = (
  fault: string,
  said: string,
  redact: (text: string) => string,
): Extract<Answered, { fault: string }> => {
  const told = toldLine(said.trim(), mostTold, redact)
  return { fault: told === '' ? fault : `${fault}: ${told}` }
}

/** As much as one commit may hold: an output that is replaced may be long. */
const mostBytes = 24 * 1024 * 1024

const outcome = answerOf(Outcome, undefined, { most: mostBytes })
/** The outcome of a callback as a plain copy. Throws what is wrong with it. */
export const takenOutcome = (made: unknown, mind: Mind, callback: unknown): Json | undefined =>
  unsafeCast(outcome.take(made, mind, callback))

/** Takes the outcome that a hook gave; one that cannot be understood is a failure of the hook. */
export const rulingOf = (name: string, given: Json | undefined): Answered => {
  if (given === undefined) return { ruling: undefined }
  if (!isShallow(given)) return { fault: 'its outcome is nested more than 64 levels deep' }
  const read = parse(Outcome, given)
  if (!read.ok)
    return { fault: `the outcome does not fit: ${read.issues[0]?.path ?? ''} ${read.issues[0]?.rule ?? ''}` }
  const { value } = read
  const { hookSpecificOutput: inner } = value
  const reason = value.reason ?? inner?.permissionDecisionReason ?? value.stop_reason ?? value.stopReason
  const stops = value.decision === 'block' || value.continue_execution === false || value.continue === false
  const approved = value.decision === 'approve' ? 'allow' : undefined
  const permissions = [value.permission, inner?.permissionDecision, approved]
  const permission = strictFirst.find((one) => permissions.includes(one))
  const input = value.updated_input ?? inner?.updatedInput
  const contexts = [...(value.additional_contexts ?? []), inner?.additionalContext ?? ''].filter(
    (text) => text.trim() !== '',
  )
  const ruling = {
    ...(stops && { block: reason ?? 'it gave no reason' }),
    ...(permission !== undefined && { permission }),
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && { updated_input: unsafeCast<Json>(input) }),
    ...(value.updated_output !== undefined && { updated_output: unsafeCast<Json>(value.updated_output) }),
    ...(contexts.length > 0 && { contexts }),
  }
  const rules = value.updated_permissions ?? []
  // Rules that count from now on are to be looked at for what is asked about.
  const isNone = Object.keys(ruling).length + rules.length === 0
  const strange = isJsonObject(given) ? strangeIn(given) : []
  const gave = rules.length > 0 && { gave_rules: true as const }
  return { ruling: isNone ? undefined : { by: [name], ...ruling, ...gave }, permissions: rules, strange }
}

export const blockOf = (name: string, reason: string): Ruling => ({
  by: [name],
  block: reason.trim() || 'it gave no reason',
})

/**
 * What is kept in the journal and shown to everyone who reads the run, also what the model is told: it is cut here, and
 * nowhere before.
 */
export const shownRuling = (ruling: Ruling, redact: (text: string) => string): Ruling => ({
  ...ruling,
  ...(ruling.block !== undefined && { block: redactedTo(ruling.block, mostReason, redact) }),
  ...(ruling.reason !== undefined && { reason: redactedTo(ruling.reason, mostReason, redact) }),
  ...(ruling.contexts !== undefined && {
    contexts: ruling.contexts.map((text) => redactedTo(text, mostContext, redact)),
  }),
})
