/** The client package, loaded when the first server is connected: a daemon without servers never loads it. */
import type { Client, JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

/** Of the package. */
export type { Client, JSONRPCMessage as JsonRpcMessage, Transport }
/** The package. */
export type Kit = typeof import('@modelcontextprotocol/client')

let loaded: Promise<Kit> | undefined
export const loadKit = (): Promise<Kit> => (loaded ??= import('@modelcontextprotocol/client'))
