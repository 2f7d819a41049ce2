import {
  array,
  defineCommand,
  open,
  optional,
  showWrong,
  string,
  visible,
  visibleLine,
  withWrong,
  wrongField,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'

const Row = open({ name: string(), description: string(), scope: string() })
const Detail = open({
  name: string(),
  description: string(),
  when_to_use: optional(string()),
  skill_path: string(),
  instructions: optional(string()),
})

const Rows = open({ skills: array(Row), wrong: wrongField })

const noSkills =
  'No skills. Put one into skills/NAME/SKILL.md of the state root or of the workspace, or name a folder with ' +
  '--skill-root. One that was just saved counts in a moment.'

const showSkills = ({ skills, wrong }: Infer<typeof Rows>): string =>
  showWrong(
    skills.map(({ name, description, scope }) => `${visibleLine(name)}  ${scope}  ${visibleLine(description)}`),
    noSkills,
    wrong,
  ).join('\n')

/** Programs get the rows alone. */
const listSkills = async (input: CommandInput): Promise<Json> => {
  const { query } = input.flags
  const path = typeof query === 'string' ? `/v1/skills?query=${encodeURIComponent(query)}` : '/v1/skills'
  const skills = await input.client.get(path)
  return input.output === 'json' ? skills : withWrong(input, ({ code }) => code.startsWith('skill_'), { skills })
}

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
    summary:
      'Skills by name, and where each is from: explicit (the state root or a --skill-root), repo (the workspace or ' +
      'what is around it) or user (the home folder).',
    flags: { query: { kind: 'text', summary: 'Only those that have this text in name, description or use.' } },
    run: listSkills,
    answer: Rows,
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
