import {
  array,
  boolean,
  defineCommand,
  open,
  optional,
  string,
  visible,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  withMembers,
} from '../../../../core/plugin.js'

const base = '/v1/runtime/mcp'

const Prompts = open({
  prompts: array(
    open({
      name: string(),
      description: optional(string()),
      arguments: array(open({ name: string(), required: boolean() })),
    }),
  ),
  next_cursor: optional(string()),
})
const Prompt = open({ messages: array(open({ role: string(), text: string() })) })

const showPrompts = ({ prompts, next_cursor }: Infer<typeof Prompts>): string =>
  prompts.length === 0
    ? 'No prompts of this MCP server.'
    : [
        ...prompts.map(({ name, description = '', arguments: given }) =>
          [
            visibleLine(name),
            ...given.map((one) => visibleLine(one.required ? one.name : `[${one.name}]`)),
            ` ${visibleLine(description).slice(0, 100)}`,
          ].join(' '),
        ),
        ...(next_cursor === undefined ? [] : [`There are more: --cursor ${visibleLine(next_cursor)}`]),
      ].join('\n')

const promptsOf = (args: CommandInput['args']): string =>
  `${base}/servers/${encodeURIComponent(args['server'] ?? '')}/prompts`

export const promptCommands: readonly Command[] = [
  defineCommand({
    path: ['mcp', 'prompts'],
    route: `GET ${base}/servers/{server}/prompts`,
    summary: 'Prompts of an MCP server.',
    args: ['server'],
    flags: { cursor: { kind: 'text', value: 'cursor', summary: 'next_cursor of the answer before.' } },
    run: ({ client, args, flags }) =>
      client.get(
        typeof flags['cursor'] === 'string'
          ? `${promptsOf(args)}?cursor=${encodeURIComponent(flags['cursor'])}`
          : promptsOf(args),
      ),
    answer: Prompts,
    show: showPrompts,
  }),
  defineCommand({
    path: ['mcp', 'prompt'],
    route: `POST ${base}/servers/{server}/prompts/{prompt_name}`,
    summary: 'A prompt of an MCP server, to be read; runs submit takes its text.',
    args: ['server', 'prompt_name'],
    flags: { 'arguments-json': { kind: 'text', value: 'json', summary: 'Values of its arguments; {} when absent.' } },
    fields: { 'body.arguments': '--arguments-json' },
    run: async ({ client, args, json }) =>
      client.send('POST', `${promptsOf(args)}/${encodeURIComponent(args['prompt_name'] ?? '')}`, {
        arguments: withMembers(await json('arguments-json'), {}),
      }),
    answer: Prompt,
    show: ({ messages }) => messages.map(({ role, text }) => `${role}: ${visible(text)}`).join('\n\n'),
  }),
]
