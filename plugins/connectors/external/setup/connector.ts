import type { Connector } from '../../registry/contract.js'
import type { ExternalSettings } from './settings.js'

/** An external connector as it is now. */
export type ExternalConnector = Connector<ExternalSettings>
