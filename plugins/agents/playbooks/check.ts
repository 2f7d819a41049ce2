/** What is wrong with a manifest, and what is unwise. Pure. */
import {
  digest,
  fieldNames,
  isJsonObject,
  parse,
  unknownField,
  type Issue,
  type Json,
  type JsonObject,
} from '../../../core/plugin.js'
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

/** Of lists that may be longer than a manifest has them. */
const mostRepetitions = 100

const at = (path: string): string => (path === '' ? 'manifest' : `manifest.${path}`)

/** Names that stand in a list more than once, each at its later places. */
const repeated = (list: string, names: readonly (string | undefined)[], field: string): ManifestNote[] => {
  const seen = new Set<string>()
  return names.flatMap((name, index) => {
    if (name === undefined) return []
    if (seen.has(name)) return [{ path: at(`${list}.${index}${field}`), rule: 'must be unique in its list' }]
    seen.add(name)
    return []
  })
}

const evidenceLists = (manifest: PlaybookManifest): readonly [string, readonly RequiredEvidence[]][] => [
  ['required_evidence', manifest.required_evidence],
  ...manifest.phases.map((phase, index): [string, readonly RequiredEvidence[]] => [
    `phases.${index}.required_evidence`,
    phase.required_evidence,
  ]),
]

const listIn = (given: Json | undefined, name: string): readonly Json[] => {
  const list = isJsonObject(given) ? given[name] : undefined
  return Array.isArray(list) ? list : []
}
const textIn = (given: Json, name: string): string | undefined => {
  const value = isJsonObject(given) ? given[name] : undefined
  return typeof value === 'string' ? value : undefined
}
const evidenceKey = (given: Json): string | undefined => {
  const [kind, id] = [textIn(given, 'kind'), textIn(given, 'id')]
  return kind === undefined || id === undefined ? undefined : JSON.stringify([kind, id])
}

/** Each list whose members have names of their own. */
const unique = [
  ['phases', 'phase_id'],
  ['roles', 'role_id'],
  ['inputs', 'name'],
] as const

/** What a manifest has twice, of one that has other errors too. */
const repetitions = (given: JsonObject): ManifestNote[] => [
  ...unique.flatMap(([list, field]) =>
    repeated(
      list,
      listIn(given, list).map((one) => textIn(one, field)),
      `.${field}`,
    ),
  ),
  ...repeated('required_evidence', listIn(given, 'required_evidence').map(evidenceKey), ''),
  ...listIn(given, 'phases').flatMap((phase, index) =>
    repeated(`phases.${index}.required_evidence`, listIn(phase, 'required_evidence').map(evidenceKey), ''),
  ),
]

const blankScopes = ({ scopes }: PlaybookManifest): ManifestNote[] =>
  (['required_capability_scope', 'required_credential_scope'] as const).flatMap((name) => {
    const blank = scopes[name] === undefined ? undefined : blankEntry(scopes[name])
    return blank === undefined ? [] : [{ path: at(`scopes.${name}.${blank}`), rule: 'must not be blank' }]
  })

const isPrimitive: ReadonlySet<string> = new Set(primitiveKinds)

const unknowable = (manifest: PlaybookManifest): ManifestNote[] =>
  evidenceLists(manifest).flatMap(([path, list]) =>
    list.flatMap(({ kind, id }, index) =>
      isPrimitive.has(kind) && id !== '*'
        ? [{ path: at(`${path}.${index}.id`), rule: 'nobody knows this id before the flow; * is any of the kind' }]
        : [],
    ),
  )

/** A kind of the daemon in other letters is a word of whoever wrote it, which nobody looks up. */
const misspelt = (manifest: PlaybookManifest): ManifestNote[] =>
  evidenceLists(manifest).flatMap(([path, list]) =>
    list.flatMap(({ kind }, index) => {
      const meant = kind.trim().toLowerCase()
      return !isPrimitive.has(kind) && isPrimitive.has(meant)
        ? [{ path: at(`${path}.${index}.kind`), rule: `is what people attest; the kind of the daemon is ${meant}` }]
        : []
    }),
  )

/** What the daemon has now. */
export interface Known {
  /** True for a tool, or the beginning of some with a star behind it. */
  readonly tool: (name: string) => boolean
  readonly route: (route_id: string) => boolean
}
const everything: Known = { tool: () => true, route: () => true }

const unknownRoute = ({ runtime_defaults: { provider } }: PlaybookManifest, known: Known): ManifestNote[] =>
  provider === undefined || known.route(provider)
    ? []
    : [{ path: at('runtime_defaults.provider'), rule: `no model route of this daemon is called ${provider} now` }]

const unknownTools = ({ tools }: PlaybookManifest, known: Known): ManifestNote[] =>
  (['allow', 'deny'] as const).flatMap((list) =>
    tools[list].flatMap((name, index) =>
      known.tool(name)
        ? []
        : [{ path: at(`tools.${list}.${index}`), rule: `no tool of this daemon is called ${name} now` }],
    ),
  )

const warningsOf = (manifest: PlaybookManifest, known: Known): ManifestNote[] => {
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
    ...misspelt(manifest),
    ...unknownTools(manifest, known),
    ...unknownRoute(manifest, known),
  ]
}

/** With the names that could stand there. */
const toldIssue = ({ path, rule }: Issue, given: JsonObject): ManifestNote => {
  const known = rule === unknownField ? fieldNames(PlaybookManifest, path.split('.').slice(0, -1), given) : []
  return { path: at(path), rule: known.length === 0 ? rule : `${rule}: there are ${known.join(', ')}` }
}

/** Its digest is that of the manifest as it was given. */
export const checkManifest = (given: JsonObject, known: Known = everything): CheckedManifest => {
  const parsed = parse(PlaybookManifest, given)
  const twice = repetitions(given).slice(0, mostRepetitions)
  if (!parsed.ok)
    return { valid: false, errors: [...parsed.issues.map((issue) => toldIssue(issue, given)), ...twice], warnings: [] }
  const manifest = parsed.value
  const [errors, warnings] = [[...twice, ...blankScopes(manifest)], warningsOf(manifest, known)]
  return errors.length > 0
    ? { valid: false, errors, warnings }
    : { valid: true, digest: digest(given), manifest, warnings }
}
