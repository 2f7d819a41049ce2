import { integer, object } from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import type { Sessions } from './contract.js'

export const sessionsSection = (sessions: Sessions): StatusSection => ({
  name: 'sessions',
  schema: object({ total: integer() }),
  collect: () => ({ total: sessions.collection.count('all', 'all') }),
})
