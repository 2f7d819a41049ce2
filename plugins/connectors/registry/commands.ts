/** Connectors from the command line. */
import {
  commandErrors,
  cursorFlag,
  defineCommand,
  isJsonObject,
  listedRows,
  object,
  open,
  boolean,
  ofFile,
  optional,
  readRows,
  secretFlags,
  showRows,
  string,
  visibleLine,
  withWrong,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
  type JsonObject,
} from '../../../core/plugin.js'
import { connectorKinds } from './settings.js'

const base = '/v1/runtime/connectors'

const Row = open({
  kind: string(),
  name: string(),
  source: string(),
  health: open({ state: string(), cause: optional(string()), action: optional(string()) }),
})
type Row = Infer<typeof Row>

const showRow = ({ kind, name, source, health: { state, cause, action } }: Row): string =>
  [
    `${kind}  ${visibleLine(name)}  ${source}  ${state}`,
    ...[cause, action].flatMap((line) => (line === undefined ? [] : [`    ${visibleLine(line)}`])),
  ].join('\n')

const at = ({ args }: CommandInput): string =>
  `${base}/${encodeURIComponent(args['kind'] ?? '')}/${encodeURIComponent(args['name'] ?? '')}`

const invalid = (flag: string, problem: string): Error => commandErrors.flag_invalid({ details: { flag, problem } })

/** Member and value of `member=value`. */
const assigned = (flag: string, text: string): readonly [string, string] => {
  const equals = text.indexOf('=')
  if (equals < 1) throw invalid(flag, 'must be MEMBER=VALUE')
  return [text.slice(0, equals), text.slice(equals + 1)]
}

/** Numbers, true, false, null and lists as JSON has them; everything else is text. */
const valueIn = (text: string): Json => {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return text
  }
}

/** Puts a value where a dotted path leads. */
const placed = (body: JsonObject, [first = '', ...rest]: readonly string[], value: Json): JsonObject => {
  const inner = body[first]
  return { ...body, [first]: rest.length === 0 ? value : placed(isJsonObject(inner) ? inner : {}, rest, value) }
}

/** True of a value that everybody on the machine could read in the line. */
const holdsSecret = (value: Json | undefined): boolean =>
  Array.isArray(value)
    ? value.some(holdsSecret)
    : isJsonObject(value) && (typeof value['value'] === 'string' || Object.values(value).some(holdsSecret))

const inLine = async (input: CommandInput): Promise<JsonObject> => {
  const { flags } = input
  const hasSecret = typeof flags['secret'] === 'string'
  const json = hasSecret ? undefined : await input.json('settings-json')
  if (json === undefined) {
    if (hasSecret && flags['settings-json'] !== undefined) throw invalid('settings-json', 'does not go with --secret')
    return {}
  }
  if (!isJsonObject(json)) throw invalid('settings-json', 'must be a JSON object')
  if (flags['settings-json'] !== undefined && holdsSecret(json))
    throw invalid('settings-json', 'may not have the value of a secret: use --file, --stdin or --secret')
  return json
}

const bodyOf = async (input: CommandInput): Promise<JsonObject> => {
  let body = await inLine(input)
  for (const text of input.all('set')) {
    const [member, value] = assigned('set', text)
    const read = valueIn(value)
    if (holdsSecret(read) || member.endsWith('.value'))
      throw invalid('set', 'may not have the value of a secret: use --secret')
    body = placed(body, member.split('.'), read)
  }
  for (const text of input.all('secret-ref')) {
    const [member, secret_ref] = assigned('secret-ref', text)
    body = { ...body, [member]: { secret_ref } }
  }
  for (const text of input.all('secret-env')) {
    const [member, env] = assigned('secret-env', text)
    body = { ...body, [member]: { env } }
  }
  const { secret } = input.flags
  return typeof secret === 'string' ? { ...body, [secret]: { value: await input.secret() } } : body
}

export const commands: readonly Command[] = [
  defineCommand({
    path: ['connectors', 'list'],
    route: `GET ${base}`,
    summary: 'Connectors by kind and name, and how they are.',
    flags: { kind: { kind: 'text', summary: 'Only those of this kind.' }, ...cursorFlag },
    choices: { kind: connectorKinds },
    run: async (input) => {
      const { kind } = input.flags
      const path = typeof kind === 'string' ? `${base}?kind=${encodeURIComponent(kind)}` : base
      return withWrong(input, ofFile('connectors'), await readRows(input, path))
    },
    answer: listedRows(Row),
    show: showRows((rows: Row[]) =>
      rows.length === 0
        ? 'No connectors yet. Set one up: holdfast connectors put http NAME --secret bearer_token --stdin'
        : rows.map(showRow).join('\n'),
    ),
  }),
  defineCommand({
    path: ['connectors', 'get'],
    route: `GET ${base}/{kind}/{name}`,
    summary: 'One connector, without its secrets.',
    args: ['kind', 'name'],
    run: (input) => input.client.get(at(input)),
  }),
  defineCommand({
    path: ['connectors', 'put'],
    route: `PUT ${base}/{kind}/{name}`,
    summary:
      'Sets a connector of a kind (external, http, slack, telegram) up, or changes what the line names; a secret is ' +
      'never a part of the line. docs/connectors.md has the members of each kind.',
    args: ['kind', 'name'],
    flags: {
      set: {
        kind: 'text',
        value: 'member=value',
        several: true,
        summary: 'A member, such as session_policy.create_if_missing=true; null sets it back.',
      },
      'settings-json': { kind: 'text', value: 'json', summary: 'Members as JSON.' },
      file: { kind: 'text', value: 'file', summary: 'Members as JSON, from this file.' },
      secret: {
        kind: 'text',
        value: 'member',
        summary: 'A secret, such as bot_token, whose value one of the next three gives.',
      },
      ...secretFlags,
      'secret-ref': {
        kind: 'text',
        value: 'member=secret',
        several: true,
        summary: 'A secret of the connector that is stored already.',
      },
      'secret-env': {
        kind: 'text',
        value: 'member=variable',
        several: true,
        summary: 'A secret of the connector that stands in a variable of the daemon.',
      },
    },
    fields: { 'path.name': '<name>', 'path.kind': '<kind>' },
    run: async (input) => input.client.send('PUT', at(input), await bodyOf(input)),
    answer: Row,
    show: showRow,
  }),
  defineCommand({
    path: ['connectors', 'delete'],
    route: `DELETE ${base}/{kind}/{name}`,
    summary: 'Takes a connector away that no reply target leads to; its secrets stay.',
    args: ['kind', 'name'],
    run: (input) => input.client.send('DELETE', at(input)),
    answer: object({ accepted: boolean() }),
    show: () => 'Deleted.',
  }),
]
