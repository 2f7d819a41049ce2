import type { Command } from '../../../core/plugin.js'

export const questionCommands: readonly Command[] = []
