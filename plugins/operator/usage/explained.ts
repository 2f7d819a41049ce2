/** That no model is asked any more because a budget is used up (explanations-15). */
import type { ReasonSource } from '../explanations/contract.js'
import { refusalParts, usageLine } from './contract.js'
import type { Budgets } from './budgets.js'

export const budgetReasons = ({ refusal }: Pick<Budgets, 'refusal'>): ReasonSource => ({
  id: 'usage',
  of({ kind, session_id }) {
    const why = kind === 'agent' ? refusal({ session_id }) : undefined
    if (why === undefined) return []
    return [{ code: 'budget', text: refusalParts(why).message, commands: [usageLine(why, session_id)] }]
  },
})
