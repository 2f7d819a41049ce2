/** A message as text for terminals. */
import {
  array,
  idWord,
  integer,
  open,
  optional,
  showTime,
  string,
  visibleLine,
  type Infer,
  folded,
  foldedBlock,
  widthOf,
} from '../../../../core/plugin.js'

export const ShownMessage = open({
  message_id: string(),
  thread_root_message_id: optional(string()),
  sender: open({ id: string(), display_name: optional(string()) }),
  sender_session_id: optional(string()),
  output: open({ content: string(), artifacts: array(open({ file_name: optional(string()) })) }),
  created_at_ms: integer(),
  reactions: optional(array(open({ emoji: string(), count: integer() }))),
})
export type ShownMessage = Infer<typeof ShownMessage>

interface Place {
  /** What people are called who say no name, by their ids. */
  readonly people: ReadonlyMap<string, string>
  readonly columns: number
  /** In lists of which somebody takes the ids. */
  readonly idFirst?: boolean
}

/** A message with its words whole: none of its lines begins where those of ours do. */
export const messageText = (message: ShownMessage, { people, columns, idFirst = false }: Place): string => {
  const { message_id, thread_root_message_id: root, sender, output, created_at_ms, reactions = [] } = message
  const files = output.artifacts.map(({ file_name = 'a file without a name' }) => `  + ${visibleLine(file_name)}`)
  const given = reactions.map((one) => `${visibleLine(one.emoji)} ${one.count}`)
  const name = visibleLine(sender.display_name ?? people.get(sender.id) ?? sender.id)
  const said = `${showTime(created_at_ms)}  ${name}`
  const who = idFirst ? `${idWord(message_id)}  ${said}` : `${said}  ${idWord(message_id)}`
  const where = root === undefined ? '' : `  in the thread of ${idWord(root)}`
  const heading = widthOf(who + where) <= columns ? [who + where] : [who, ...(where === '' ? [] : [`  ${where}`])]
  return [
    ...heading.map((line) => folded(line, columns)),
    ...(output.content === '' ? [] : [foldedBlock(output.content, columns)]),
    ...files.map((line) => folded(line, columns)),
    ...(given.length === 0 ? [] : [folded(`  ${given.join('  ')}`, columns)]),
  ].join('\n')
}
