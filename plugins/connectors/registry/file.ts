/** `config/connectors.toml`: connectors that operators keep in a file. */
import {
  defineList,
  doc,
  hintFor,
  isJsonObject,
  jsonObject,
  object,
  optional,
  string,
  type Issue,
  type Json,
  type JsonObject,
  type ListSpec,
} from '../../../core/plugin.js'
import type { AnyConnectorKind } from './contract.js'
import { faultOfName, listedSecret, listId, readSettings, tellIssues, type Entry } from './entry.js'
import type { SecretSource } from './sources.js'
import { connectorKinds } from './settings.js'

const suffix = '_connectors'

/** Where the file is. */
export const FileConfig = object({
  connectors_config: doc(
    optional(string({ min: 1, max: 4_096 })),
    'File of connectors that is read in place of config/connectors.toml.',
  ),
})

/** An array of tables for each kind, as others have it. */
export const connectorList = (path: string | undefined): ListSpec<JsonObject> =>
  defineList({
    file: 'connectors',
    from: { flag: 'connectors-config', path },
    arrays: { of: connectorKinds.map((kind) => `${kind}${suffix}`), name: 'name' },
    summary: 'Connectors, beside those that requests set up.',
    entry: jsonObject(),
  })

/** The kind and name in the name of an entry of the list. */
export const placeIn = (entry: string): { readonly kind: string; readonly name: string } => {
  const [from = '', name = ''] = entry.split('/')
  return { kind: from.slice(0, -suffix.length), name }
}

export type Read = { readonly entry: Entry } | { readonly fault: string }

/** A source in a table, by what its members are called: at most one may be there. */
type Found = { readonly source?: SecretSource; readonly fault?: string }

const formsOf = (secret: string): readonly (readonly [string, (text: string) => SecretSource])[] => [
  [secret, (value) => ({ type: 'file', value })],
  [`${secret}_env`, (env) => ({ type: 'env', env })],
  [`${secret}_secret_ref`, (secret_ref) => ({ type: 'secret', secret_ref })],
]

const takeSecret = (rest: Record<string, Json | undefined>, secret: string): Found => {
  const forms = formsOf(secret)
  const given = forms.filter(([member]) => rest[member] !== undefined)
  const values = given.map(([member]) => rest[member])
  for (const [member] of given) Reflect.deleteProperty(rest, member)
  const [first] = given
  const [value] = values
  if (first === undefined) return {}
  if (given.length > 1) return { fault: `may have one of ${given.map(([member]) => member).join(', ')}` }
  if (typeof value !== 'string' || value.trim() === '') return { fault: `${first[0]} must be text that is not blank` }
  return { source: first[1](value) }
}

/** The secrets of a table, which they are taken out of; the first fault is told. */
const takeSecrets = (
  kind: AnyConnectorKind,
  rest: Record<string, Json | undefined>,
): { readonly secrets: Map<string, SecretSource>; readonly fault?: string | undefined } => {
  const secrets = new Map<string, SecretSource>()
  let fault: string | undefined
  const keep = (name: string, found: Found): void => {
    fault ??= found.fault
    if (found.source !== undefined) secrets.set(name, found.source)
  }
  for (const secret of kind.secrets) keep(secret, takeSecret(rest, secret))
  for (const [list, { id, secret }] of Object.entries(kind.secretLists ?? {})) {
    const elements = rest[list] ?? []
    Reflect.deleteProperty(rest, list)
    if (!Array.isArray(elements)) fault ??= `${list} must be an array of tables`
    else
      for (const element of elements) {
        const { [id]: own, ...inner } = isJsonObject(element) ? element : {}
        const found = takeSecret(inner, secret)
        if (typeof own !== 'string' || !listId.test(own)) fault ??= `${list} must have an ${id} in each table`
        else if (secrets.has(listedSecret(list, own, secret))) fault ??= `${list} must have each ${id} once`
        else if (found.source === undefined) fault ??= found.fault ?? `${list} must have a ${secret} in each table`
        else if (Object.keys(inner).length > 0) fault ??= `${list} may have ${id} and ${secret} alone in each table`
        else keep(listedSecret(list, own, secret), found)
      }
  }
  return { secrets, fault }
}

/** The connector that a table says, or what is wrong with it, without quoting it. */
export const readTable = (kind: AnyConnectorKind, name: string, table: JsonObject): Read => {
  const misnamed = faultOfName(kind.kind, name)
  if (misnamed !== undefined) return { fault: `its name ${misnamed}` }
  const rest = { ...table }
  const { secrets, fault } = takeSecrets(kind, rest)
  if (fault !== undefined) return { fault }
  const read = readSettings(kind, { name, secrets, settings: rest })
  if ('issues' in read) {
    const beside = [
      ...kind.secrets.flatMap((secret) => formsOf(secret).map(([member]) => member)),
      ...Object.keys(kind.secretLists ?? {}),
    ]
    const hinted = ({ path, rule }: Issue): Issue => ({
      path,
      rule: `${rule}${hintFor({ path, rule }, { struct: kind.settings, value: rest, beside })}`,
    })
    return { fault: tellIssues(read.issues.map(hinted)) }
  }
  return { entry: { kind, name, source: 'file', settings: read.settings, secrets } }
}
