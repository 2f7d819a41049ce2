/** As whom a session draws. */
import type { Sessions } from '../../../execution/sessions/contract.js'
import type { Author } from './elements.js'

const colors = ['#7C3AED', '#0EA5E9', '#059669', '#D97706', '#DB2777', '#4F46E5', '#0D9488', '#DC2626'] as const
const mostName = 60

/** Always the same for a session. */
export const colorOf = (session_id: string): string => {
  let folded = 0n
  for (const byte of Buffer.from(session_id)) folded = BigInt.asUintN(64, folded * 31n + BigInt(byte))
  return colors[Number(folded % BigInt(colors.length))] ?? colors[0]
}

export const authorOf = (sessions: Pick<Sessions, 'get'>, session_id: string): Author => {
  const name = sessions.get(session_id).persona?.display_name ?? session_id
  return { kind: 'agent', name: name.slice(0, mostName), color: colorOf(session_id), session_id }
}
