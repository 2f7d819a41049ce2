import {
  array,
  defineCommand,
  open,
  parse,
  number,
  string,
  visibleLine,
  type Command,
  type Json,
} from '../../../core/plugin.js'

const Rows = array(open({ persona_id: string(), display_name: string(), version: number() }))

const showPersonas = (answer: Json): string => {
  const rows = parse(Rows, answer)
  if (!rows.ok) return JSON.stringify(answer, null, 2)
  if (rows.value.length === 0) return 'No personas yet. Create one: holdfast personas create NAME --soul TEXT'
  return rows.value
    .map(({ persona_id, display_name, version }) => `${persona_id}  ${visibleLine(display_name)}  version ${version}`)
    .join('\n')
}

export const personaCommands: readonly Command[] = [
  defineCommand({
    path: ['personas', 'list'],
    summary: 'Personas by id.',
    flags: { query: { kind: 'text', summary: 'Only those whose id or name holds this text.' } },
    run: ({ client, flags }) =>
      client.get(
        typeof flags['query'] === 'string'
          ? `/v1/personas?query=${encodeURIComponent(flags['query'])}`
          : '/v1/personas',
      ),
    show: showPersonas,
  }),
  defineCommand({
    path: ['personas', 'get'],
    summary: 'One persona.',
    args: ['persona_id'],
    run: ({ client, args }) => client.get(`/v1/personas/${encodeURIComponent(args['persona_id'] ?? '')}`),
  }),
  defineCommand({
    path: ['personas', 'create'],
    summary: 'Creates a persona.',
    args: ['display_name'],
    flags: {
      id: { kind: 'text', summary: 'Its id; made if it is left out.' },
      soul: { kind: 'text', summary: 'What the model is told about who it is.' },
    },
    run: ({ client, args, flags }) =>
      client.send('POST', '/v1/personas', {
        display_name: args['display_name'] ?? '',
        ...(typeof flags['id'] === 'string' && { persona_id: flags['id'] }),
        ...(typeof flags['soul'] === 'string' && { soul: flags['soul'] }),
      }),
  }),
]
