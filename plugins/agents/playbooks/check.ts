/** What is wrong with a manifest, and what is unwise. Pure. */
import { digest, parse, type JsonObject } from '../../../core/plugin.js'
import { blankEntry } from '../../execution/sessions/contract.js'
import { PlaybookManifest, primitiveKinds, type RequiredEvidence } from './manifest.js'

/** A place in a manifest, and what holds there. */
export interface ManifestNote {
  readonly path: string
  readonly rule: string
}

export type CheckedManifest =
  | {
      readonly valid: true
      readonly digest: string
      readonly manifest: PlaybookManifest
      readonly warnings: readonly ManifestNote[]
    }
  | { readonly valid: false; readonly errors: readonly ManifestNote[]; readonly warnings: readonly ManifestNote[] }

const at = (path: string): string => (path === '' ? 'manifest' : `manifest.${path}`)

/** Names that stand in a list more than once, each at its later places. */
const repeated = (list: string, names: readonly string[], field: string): ManifestNote[] =>
  names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ path: at(`${list}.${index}${field === '' ? '' : `.${field}`}`), rule: 'must be unique in its list' }],
  )

const evidenceKey = ({ kind, id }: RequiredEvidence): string => JSON.stringify([kind, id])
const evidenceLists = (manifest: PlaybookManifest): readonly [string, readonly RequiredEvidence[]][] => [
  ['required_evidence', manifest.required_evidence],
  ...manifest.phases.map((phase, index): [string, readonly RequiredEvidence[]] => [
    `phases.${index}.required_evidence`,
    phase.required_evidence,
  ]),
]

const blankScopes = ({ scopes }: PlaybookManifest): ManifestNote[] =>
  (['required_capability_scope', 'required_credential_scope'] as const).flatMap((name) => {
    const blank = scopes[name] === undefined ? undefined : blankEntry(scopes[name])
    return blank === undefined ? [] : [{ path: at(`scopes.${name}.${blank}`), rule: 'must not be blank' }]
  })

const errorsOf = (manifest: PlaybookManifest): ManifestNote[] => [
  ...repeated(
    'phases',
    manifest.phases.map(({ phase_id }) => phase_id),
    'phase_id',
  ),
  ...repeated(
    'roles',
    manifest.roles.map(({ role_id }) => role_id),
    'role_id',
  ),
  ...repeated(
    'inputs',
    manifest.inputs.map(({ name }) => name),
    'name',
  ),
  ...evidenceLists(manifest).flatMap(([path, list]) => repeated(path, list.map(evidenceKey), '')),
  ...blankScopes(manifest),
]

const isPrimitive: ReadonlySet<string> = new Set(primitiveKinds)

const unknowable = (manifest: PlaybookManifest): ManifestNote[] =>
  evidenceLists(manifest).flatMap(([path, list]) =>
    list.flatMap(({ kind, id }, index) =>
      isPrimitive.has(kind) && id !== '*'
        ? [{ path: at(`${path}.${index}.id`), rule: 'nobody knows this id before the flow; * is any of the kind' }]
        : [],
    ),
  )

const warningsOf = (manifest: PlaybookManifest): ManifestNote[] => {
  const { phases, acceptance_criteria, tools } = manifest
  const named = tools.allow.length + tools.deny.length > 0
  return [
    ...(phases.length === 0 ? [{ path: at('phases'), rule: 'has no phase' }] : []),
    ...(acceptance_criteria.length === 0
      ? [{ path: at('acceptance_criteria'), rule: 'does not say when it is done' }]
      : []),
    ...phases.flatMap((phase, index) =>
      phase.acceptance_criteria.length === 0
        ? [{ path: at(`phases.${index}.acceptance_criteria`), rule: 'does not say when it is done' }]
        : [],
    ),
    ...(tools.enforce && !named ? [{ path: at('tools.enforce'), rule: 'enforces nothing: no tool is named' }] : []),
    ...(!tools.enforce && named ? [{ path: at('tools.enforce'), rule: 'is false: nobody looks at the names' }] : []),
    ...unknowable(manifest),
  ]
}

/** Its digest is that of the manifest as it was given. */
export const checkManifest = (given: JsonObject): CheckedManifest => {
  const parsed = parse(PlaybookManifest, given)
  if (!parsed.ok)
    return { valid: false, errors: parsed.issues.map(({ path, rule }) => ({ path: at(path), rule })), warnings: [] }
  const manifest = parsed.value
  const [errors, warnings] = [errorsOf(manifest), warningsOf(manifest)]
  return errors.length > 0
    ? { valid: false, errors, warnings }
    : { valid: true, digest: digest(given), manifest, warnings }
}
