import {
  array,
  defineCommand,
  open,
  optional,
  string,
  visible,
  visibleLine,
  type Command,
  type Infer,
} from '../../../core/plugin.js'

const Row = open({ name: string(), description: string(), scope: string() })
const Detail = open({
  name: string(),
  description: string(),
  when_to_use: optional(string()),
  skill_path: string(),
  instructions: optional(string()),
})

const showSkills = (rows: Infer<typeof Row>[]): string =>
  rows.length === 0
    ? 'No skills. Put one into skills/NAME/SKILL.md of the state root or of the workspace, or name a folder with ' +
      '--skill-root. One that was just saved counts in a moment.'
    : rows
        .map(({ name, description, scope }) => `${visibleLine(name)}  ${scope}  ${visibleLine(description)}`)
        .join('\n')

const showSkill = ({ name, description, when_to_use, skill_path, instructions = '' }: Infer<typeof Detail>): string =>
  [
    `${visibleLine(name)}: ${visibleLine(description)}`,
    ...(when_to_use === undefined ? [] : [`When to use: ${visibleLine(when_to_use)}`]),
    visibleLine(skill_path),
    '',
    visible(instructions),
  ].join('\n')

export const commands: readonly Command[] = [
  defineCommand({
    path: ['skills', 'list'],
    route: 'GET /v1/skills',
    summary: 'Skills by name.',
    flags: { query: { kind: 'text', summary: 'Only those that have this text in name, description or use.' } },
    run: ({ client, flags }) =>
      client.get(
        typeof flags['query'] === 'string' ? `/v1/skills?query=${encodeURIComponent(flags['query'])}` : '/v1/skills',
      ),
    answer: array(Row),
    show: showSkills,
  }),
  defineCommand({
    path: ['skills', 'get'],
    route: 'GET /v1/skills/{skill_name}',
    summary: 'One skill, with what it says.',
    args: ['skill_name'],
    run: ({ client, args }) => client.get(`/v1/skills/${encodeURIComponent(args['skill_name'] ?? '')}`),
    answer: Detail,
    show: showSkill,
  }),
]
