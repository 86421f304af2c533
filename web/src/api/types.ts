// Written by scripts/api-types from the server's OpenAPI document. Do not edit.

export interface components {
    schemas: {
        /** @description The acceptance of a session. */
        AcceptOffer: {
            giver_keeps?: components["schemas"]["GivenRight"] | null;
        };
        /** @description One action by hand. */
        Act: {
            input: components["schemas"]["ToolInput"];
            /** @description True to wait until the screen settles and take a screenshot. */
            look?: boolean;
            tool: components["schemas"]["Tool"];
        };
        /** @description The result of an action. */
        Acted: {
            /** @description The `call` of its events. */
            call: string;
            /** Format: int64 */
            duration_ms: number;
            is_error: boolean;
            screenshot: components["schemas"]["BlobName"] | null;
            text: string;
        };
        /** @description A single operation on the computer. */
        Action: {
            /** @enum {string} */
            action: "screenshot";
        } | {
            /** @enum {string} */
            action: "zoom";
            region: components["schemas"]["Region"];
        } | {
            /** @enum {string} */
            action: "move";
            at: components["schemas"]["Point"];
        } | {
            /** @enum {string} */
            action: "click";
            at?: components["schemas"]["Point"];
            button?: components["schemas"]["Button"];
            /**
             * Format: int32
             * @default 1
             */
            count?: number;
            /** @description Key names held during the click, pressed in order and released in reverse. */
            modifiers?: string[];
        } | {
            /** @enum {string} */
            action: "mouse_down";
            button?: components["schemas"]["Button"];
        } | {
            /** @enum {string} */
            action: "mouse_up";
            button?: components["schemas"]["Button"];
        } | {
            /** @enum {string} */
            action: "drag";
            modifiers?: string[];
            /** @description At least one point. With one point the drag starts at the pointer. */
            path: components["schemas"]["Point"][];
        } | {
            /** @enum {string} */
            action: "scroll";
            at?: components["schemas"]["Point"];
            /**
             * Format: int32
             * @description Wheel clicks.
             * @default 0
             */
            dx?: number;
            /**
             * Format: int32
             * @description Wheel clicks.
             * @default 0
             */
            dy?: number;
            modifiers?: string[];
        } | {
            /** @enum {string} */
            action: "type";
            text: string;
        } | {
            /** @enum {string} */
            action: "key";
            keys: string;
            /**
             * Format: int32
             * @default 1
             */
            repeat?: number;
        } | {
            /** @enum {string} */
            action: "hold_key";
            keys: string;
            /** Format: int64 */
            ms: number;
        } | {
            /** @enum {string} */
            action: "wait";
            /** Format: int64 */
            ms: number;
        } | {
            /** @enum {string} */
            action: "cursor_position";
        };
        /** @description The streams that have not ended, oldest first. */
        ActiveStreams: {
            streams: components["schemas"]["Stream"][];
        };
        /** @description The Activity of this server. */
        Activity: {
            /** @description The id of the application at Discord. */
            client_id: string;
            /** @description The origins of the pages that may show it. No other one is talked to. */
            hosts: string[];
        };
        /** @description An amount that was used. */
        Amount: {
            /** Format: int64 */
            tokens: number;
            /**
             * Format: double
             * @description US dollars.
             */
            usd: number;
        };
        /** @description A decision is settled. It can no longer be answered. */
        AnswerData: {
            /** @description The answer that counts, which is the default after an expiry. */
            answer?: components["schemas"]["Reply"];
            /**
             * Format: uuid
             * @description The person who answered, if one did.
             */
            by?: string;
            /** Format: uuid */
            decision: string;
            /** @description Never `open`. */
            state: components["schemas"]["SettledState"];
            /** Format: uuid */
            turn: string;
        };
        /**
         * @description An answer. Exactly one of `text`, `choices`, `yes` and `file` is set, the one that the form asks for. A `text` answers
         *     every question of an agent: none of its choices may fit.
         */
        AnswerDecision: {
            /** @description With a no, words for the agent. At most 4 KiB in UTF-8. */
            because?: string;
            /** @description The values of the chosen choices. */
            choices?: string[];
            file?: components["schemas"]["AnswerFile"];
            /**
             * @description With a yes, the sessions in which the same is allowed from now on. Absent, it is allowed once. `always` is for the
             *     owner.
             */
            for?: components["schemas"]["AnswerScope"];
            /** @description At most 64 KiB in UTF-8. */
            text?: string;
            yes?: boolean;
        };
        /** @description A file for the agent. */
        AnswerFile: {
            /** @description The bytes, at most 700 KiB, in base64. */
            base64: string;
            /** @description The name, without slashes. */
            name: string;
        };
        /**
         * @description The sessions in which an approval holds from now on.
         * @enum {string}
         */
        AnswerScope: "session" | "always";
        /** @enum {string} */
        ApprovalMode: "always" | "risky" | "never";
        /** @description The calls that the agent must ask about. */
        ApprovalPolicy: {
            mode?: components["schemas"]["ApprovalMode"];
            /** @description The first matching rule takes precedence over the mode. */
            rules?: components["schemas"]["ApprovalRule"][];
        };
        /** @description A decision for all calls of one kind. */
        ApprovalRule: {
            /** @description True if only this very text matches, in which `*` stands for itself. */
            exact?: boolean;
            /**
             * @description A pattern for the whole text of a call, such as `npm *`, `click` or `create /etc/*`. `*` stands for anything. An
             *     exact one has at most 2000 characters, others at most 200.
             */
            pattern?: string;
            then: components["schemas"]["Then"];
            tool: components["schemas"]["RuleTool"];
        };
        /** @description The agent handed a file to people. `GET /api/sessions/{id}/artifacts/{seq}` returns it. */
        ArtifactData: {
            blob: string;
            /** @description Guessed by the name. */
            media_type: string;
            /** @description The name of the file, without its folder. */
            name: string;
            /**
             * Format: int64
             * @description In bytes.
             */
            size: number;
            /** Format: uuid */
            turn: string;
        };
        /** @description A file that was uploaded for a message. */
        Attachment: {
            /** Format: uuid */
            id: string;
            /** @description Pictures and PDFs are recognized by their content, others by their name. */
            media_type: string;
            /** Format: int64 */
            n_bytes: number;
            /** @description The name of the file, without a folder. */
            name: string;
        };
        /** @description A file that belongs to a message. `GET /api/sessions/{id}/attachments/{attachment}` returns it. */
        AttachmentData: {
            blob: string;
            /** Format: uuid */
            id: string;
            /** @description Pictures and PDFs are recognized by their content, others by their name. */
            media_type: string;
            /** Format: int64 */
            n_bytes: number;
            /** @description The name of the file, without a folder. */
            name: string;
        };
        /** @description A change to an account, a right, a token, a secret, a policy or a limit. */
        AuditEntry: {
            /** @description A stable name, such as `token.created`. A newer server may send others. */
            action: string;
            /**
             * Format: uuid
             * @description The user who made the change. Null if the server itself did.
             */
            actor: string | null;
            /** @description Names are those at the time of the change. */
            actor_name: string | null;
            /** @description The address that the request came from, as the server saw it. Your own history leaves out those of others. */
            address: string | null;
            /** Format: date-time */
            at: string;
            details: Record<string, never>;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            session: string | null;
            /** @description A sentence for people, to stand behind the name of the actor: `created the token ci with the scope write`. */
            summary: string;
            /** @description The token that the request came with, if it was one. */
            token_name: string | null;
            /**
             * Format: uuid
             * @description The user whose account or right changed.
             */
            user: string | null;
            user_name: string | null;
        };
        /** @description A page of the audit log, newest first. */
        AuditPage: {
            entries: components["schemas"]["AuditEntry"][];
            /**
             * Format: uuid
             * @description The `before` of the next page, if there is one.
             */
            next: string | null;
        };
        /** @description The name of a blob: the SHA-256 of its content as 64 lower-case hex digits, a dot, and the format's extension. */
        BlobName: string;
        /**
         * @description The reason why a connection is not made, or ended.
         * @enum {string}
         */
        BlockReason: "closed" | "not_listed" | "denied" | "private" | "own" | "resolver" | "other_name" | "stand_in" | "secret_use" | "idle" | "busy" | "bytes" | "failed";
        /**
         * @description A limit that a turn may reach.
         * @enum {string}
         */
        Bound: "session_usd" | "session_tokens" | "day_usd" | "day_tokens" | "steps" | "seconds" | "repeats" | "unpriced";
        /** @description A budget and its usage. */
        Budget: {
            tokens: components["schemas"]["TokensOfBudget"];
            usd: components["schemas"]["UsdOfBudget"];
        };
        /** @description A suite that comes with the program. */
        BuiltInSuite: {
            description: string;
            /** Format: int64 */
            n_tasks: number;
            name: string;
        };
        /** @description The suites that come with the program. */
        BuiltInSuites: {
            suites: components["schemas"]["BuiltInSuite"][];
        };
        /** @description An event with its session. */
        BusEvent: {
            /** @description The server passes on stored JSON without parsing it. */
            event: components["schemas"]["SessionEvent"];
            /** Format: uuid */
            session: string;
        };
        /** @description A message from the server. */
        BusMessage: {
            /** @description Your newest sessions, at most 200, newest first. It is sent once, as the first message. */
            data: components["schemas"]["BusSnapshot"];
            /** @enum {string} */
            type: "snapshot";
        } | {
            /** @description A session is new or has changed. */
            data: components["schemas"]["BusSession"];
            /** @enum {string} */
            type: "session";
        } | {
            /** @description You can no longer see a session. */
            data: components["schemas"]["BusSessionId"];
            /** @enum {string} */
            type: "session_gone";
        } | {
            /** @description A notice that cannot wait. */
            data: components["schemas"]["BusNotice"];
            /** @enum {string} */
            type: "notice";
        } | {
            /** @description The events of a session follow. */
            data: components["schemas"]["BusSessionId"];
            /** @enum {string} */
            type: "subscribed";
        } | {
            /** @description No more events of a session follow. */
            data: components["schemas"]["BusSessionId"];
            /** @enum {string} */
            type: "unsubscribed";
        } | {
            /** @description The server refuses your request, or ends it. */
            data: components["schemas"]["BusRefusal"];
            /** @enum {string} */
            type: "refused";
        } | {
            /** @description An event of a session that you asked for. */
            data: components["schemas"]["BusEvent"];
            /** @enum {string} */
            type: "event";
        };
        /** @description A notice that concerns the user rather than a session. */
        BusNotice: {
            /**
             * @description `too_many_awake`, `too_many_today`, `shutting_down`, `session_offered`, `offer_accepted`, `offer_declined` or
             *     `offer_withdrawn`. A newer server may send others.
             */
            code: string;
            /** @description A sentence for people. */
            message: string;
        };
        /** @description A refused request. */
        BusRefusal: {
            error: components["schemas"]["ProblemError"];
            /**
             * Format: uuid
             * @description Absent if the server could not read the message.
             */
            session?: string;
        };
        /** @description A message from a client. */
        BusRequest: {
            /**
             * Format: int64
             * @description The number of the last event that you have seen. 0 is the beginning.
             */
            after?: number;
            /** Format: uuid */
            session: string;
            /** @enum {string} */
            type: "subscribe";
        } | {
            /** Format: uuid */
            session: string;
            /** @enum {string} */
            type: "unsubscribe";
        };
        /** @description A session and the decisions in it that wait for you. */
        BusSession: components["schemas"]["Session"] & {
            /** @description The decisions that it waits for and you can answer, oldest first. */
            decisions: string[];
            /** @description True if the agent waits for an answer that you can give. */
            needs_me: boolean;
        };
        /** @description The id of a session. */
        BusSessionId: {
            /** Format: uuid */
            session: string;
        };
        /** @description The sessions at the start. */
        BusSnapshot: {
            sessions: components["schemas"]["BusSession"][];
        };
        /** @enum {string} */
        Button: "left" | "middle" | "right";
        /** @description A budget to set. An absent field stays as it is, or is left to the server's settings; 0 means no limit. */
        ChangeBudget: {
            /** Format: int64 */
            tokens?: number | null;
            /**
             * Format: double
             * @description US dollars.
             */
            usd?: number | null;
        };
        /** @description A change to a waiting message. At least one field is required. */
        ChangeMessage: {
            /**
             * Format: uuid
             * @description The message to move it before. Null for the end of the queue.
             */
            before?: string | null;
            /** @description At most 256 KiB in UTF-8. */
            content?: string;
            delivery?: components["schemas"]["Delivery"];
            effort?: components["schemas"]["Effort"] | null;
            /** @description True to keep it from the agent until it is released. False to release it, so that an idle agent takes it at once. */
            held?: boolean;
            /** @description The model that works on it, as `vendor/name`. Null for the session's model. */
            model?: string | null;
        };
        /** @description A change to a session. At least one field is required. */
        ChangeSession: {
            /** @description The approvals that its agent needs, from its next action on. */
            approvals?: components["schemas"]["ApprovalPolicy"];
            /** @description The whole budget after which a person is asked. It replaces the current one. */
            budget?: components["schemas"]["ChangeBudget"];
            effort?: components["schemas"]["Effort"] | null;
            /**
             * @description Instructions for its agent besides those for every agent, from its next turn on: at most 16 KiB in UTF-8.
             *     Empty for none.
             */
            instructions?: string;
            /**
             * @description All MCP servers of the session. After its first turn has begun, they can be changed and removed, but none can
             *     be added.
             */
            mcp_servers?: components["schemas"]["McpServerSpec"][];
            /** @description `vendor/name`, from its next turn on. */
            model?: string;
            /** @description The hosts that its programs may contact, from now on. Other connections end. */
            network?: components["schemas"]["NetworkPolicy"];
            title?: string;
        };
        /** @description A change to a user. */
        ChangeUser: {
            active?: boolean | null;
            name?: string | null;
            role?: components["schemas"]["UserRole"] | null;
        };
        /** @description A person changed settings of the session. Absent settings stayed the same. A new model has an event of its own. */
        ChangedData: {
            approvals?: components["schemas"]["ApprovalPolicy"];
            budget?: components["schemas"]["SetBudget"];
            /** Format: uuid */
            by: string;
            /** @description Their name at that time. */
            by_name: string;
            effort?: components["schemas"]["Effort"] | null;
            /** @description The instructions from the next turn on. Empty if there are none. */
            instructions?: string;
            /** @description The MCP servers whose tools its agent may use. */
            mcp_servers?: components["schemas"]["McpServerSpec"][];
            /** @description The hosts that its programs may contact from now on. */
            network?: components["schemas"]["NetworkPolicy"];
            title?: string;
        };
        /** @description A point about a call that a person must agree to, whatever the session's policy says. */
        Check: {
            kind: components["schemas"]["DecisionKind"];
            /** @description The question for people. */
            prompt: string;
        };
        /** @description A check of a model. */
        CheckModel: {
            /** @description Only estimates the cost, and calls nobody. */
            estimate?: boolean;
            /** @description `vendor/name`. The default model without it. */
            model?: string | null;
        };
        /**
         * @description The outcome of a point.
         * @enum {string}
         */
        CheckVerdict: "passed" | "warned" | "failed" | "skipped";
        /**
         * @description A point that a check looks at.
         * @enum {string}
         */
        CheckedPoint: "answer" | "picture" | "tools" | "click" | "second_step" | "cache" | "price";
        /** @description One of several possible answers. */
        Choice: {
            /** @description The text that people read. */
            label: string;
            /** @description The value that the agent receives. */
            value: string;
        };
        /** @description The text on the clipboard. */
        Clipboard: {
            /** @description Absent if there is no text. */
            text?: string | null;
        };
        /** @description A person who has the session open. */
        Collaborator: {
            /** Format: uuid */
            id: string;
            name: string;
        };
        /** @description A turn ended normally, or because a person stopped it. */
        CompleteData: {
            /** @description The bound that ended it, if one did. */
            bound?: components["schemas"]["Bound"];
            /** Format: int64 */
            duration_ms: number;
            /**
             * Format: int32
             * @description The number of model calls.
             */
            n_steps: number;
            outcome: components["schemas"]["Outcome"];
            /** Format: uuid */
            turn: string;
        };
        /**
         * @description The kind of a computer. It never changes.
         * @enum {string}
         */
        ComputerKind: "desktop" | "browser";
        /** @description The price of a model's answer. It comes last: everything that the model said and asked for precedes it. */
        CostData: {
            /** @description The model only announced its next step, so the turn continues. */
            aside?: boolean;
            /** @description The stream ended early, so this is not a full answer and may have cost more. */
            broken_off?: boolean;
            /** @description The model that answered, as `vendor/name`. */
            model?: string;
            /**
             * Format: int32
             * @description The number of the answer in its turn, from 1.
             */
            step: number;
            /** @description The answer was a summary of the conversation, not a step of the turn. */
            summary?: boolean;
            /** Format: uuid */
            turn: string;
            /** @description The answer reached its length limit before its end. */
            unfinished?: boolean;
            /** @description The price of the model is unknown, so `usd` is 0. */
            unpriced?: boolean;
            usage: components["schemas"]["UsageData"];
            /**
             * Format: double
             * @description US dollars.
             */
            usd: number;
        };
        /** @description A session to create. */
        CreateSession: {
            approvals?: components["schemas"]["ApprovalPolicy"] | null;
            /** @description The budget after which a person is asked. */
            budget?: components["schemas"]["ChangeBudget"];
            /** @description The kind of its computer: `desktop`, or `browser` for one without a screen, which is lighter. */
            computer?: components["schemas"]["ComputerKind"];
            /** @description The effort that its models put into thinking. Without it the server's settings decide. */
            effort?: components["schemas"]["Effort"];
            /** @description Instructions for its agent besides those for every agent: at most 16 KiB in UTF-8. */
            instructions?: string | null;
            /** @description The MCP servers whose tools its agent is offered besides those of the deployment. */
            mcp_servers?: components["schemas"]["McpServerSpec"][];
            /** @description The caller's own notes. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description The model as `vendor/name`. Without it the server chooses one. */
            model?: string | null;
            /** @description The hosts that its programs may contact. Without it the server's settings apply. */
            network?: components["schemas"]["NetworkPolicy"];
            title?: string | null;
            /**
             * @description The tools by which its models drive the computer. Without it, all that fit the computer: `computer` needs a
             *     screen.
             */
            tools?: components["schemas"]["DrivingTool"][];
        };
        /** @description A token to create. */
        CreateToken: {
            /**
             * Format: date-time
             * @description The time of expiry. Without it the token never expires.
             */
            expires_at?: string | null;
            name: string;
            scope?: components["schemas"]["Scope"] | null;
        };
        /** @description A user to add. */
        CreateUser: {
            /** @description Unique regardless of case. */
            name: string;
            role?: components["schemas"]["UserRole"] | null;
        };
        /** @description A watch link to create. */
        CreateWatchLink: {
            /**
             * Format: int64
             * @description The seconds for which it is valid, at most 30 days. A day by default.
             */
            lifetime_seconds?: number | null;
        };
        /** @description A question to people, with its state and answer. */
        Decision: {
            answer: components["schemas"]["Reply"] | null;
            /**
             * Format: uuid
             * @description The person who answered, if one did.
             */
            answered_by: string | null;
            answered_by_name: string | null;
            /** @description The tool call that waits for the answer. */
            call: string | null;
            /** Format: date-time */
            created_at: string;
            default: components["schemas"]["Reply"] | null;
            /**
             * Format: date-time
             * @description Null if it never expires.
             */
            expires_at: string | null;
            form: components["schemas"]["Form"];
            /** Format: uuid */
            id: string;
            kind: components["schemas"]["DecisionKind"];
            over: components["schemas"]["OverBound"] | null;
            /** @description The question, for people. */
            prompt: string;
            rule: components["schemas"]["ApprovalRule"] | null;
            /** Format: uuid */
            session_id: string;
            session_title: string;
            /**
             * Format: date-time
             * @description The time at which it was answered, expired or was withdrawn.
             */
            settled_at: string | null;
            state: components["schemas"]["DecisionState"];
            subject: components["schemas"]["Subject"] | null;
            /** Format: uuid */
            turn: string;
        };
        /** @description A person is asked something. */
        DecisionData: {
            /** @description The tool call that waits for the answer. */
            call?: string;
            /** Format: uuid */
            decision: string;
            /** @description The answer that counts if the decision expires. */
            default?: components["schemas"]["Reply"];
            /**
             * Format: date-time
             * @description The time of expiry. Without it the decision never expires.
             */
            expires_at?: string;
            form: components["schemas"]["Form"];
            kind: components["schemas"]["DecisionKind"];
            /** @description The bound that would be passed, if that is the reason for the question. */
            over?: components["schemas"]["OverBound"];
            /** @description The question, for people. */
            prompt: string;
            /** @description The rule that an answer may add, so that this is not asked again. */
            rule?: components["schemas"]["ApprovalRule"];
            /** @description The exact action that would be carried out, if the question is about one. */
            subject?: components["schemas"]["Subject"];
            /** Format: uuid */
            turn: string;
        };
        /** @enum {string} */
        DecisionKind: "question" | "approval" | "owner_approval" | "safety_check" | "budget" | "network";
        /** @enum {string} */
        DecisionState: "open" | "answered" | "expired" | "withdrawn";
        /** @description A page of decisions, newest first. */
        DecisionsPage: {
            decisions: components["schemas"]["Decision"][];
            /**
             * Format: uuid
             * @description The `before` of the next page, if there is one.
             */
            next: string | null;
        };
        /**
         * @description The way in which a message reaches a busy agent. An idle agent takes any message at once.
         * @enum {string}
         */
        Delivery: "queue" | "steer" | "interrupt";
        /**
         * @description A tool by which a model drives its computer. The shell, the editor and the others are not among them.
         * @enum {string}
         */
        DrivingTool: "computer" | "browser";
        /** @description A command to the editor. Paths are absolute. */
        EditCommand: {
            /** @enum {string} */
            command: "view";
            path: string;
            /** @description The first and last line, counted from 1. A last line of -1 is the end of the file. */
            view_range?: number[];
        } | {
            /** @enum {string} */
            command: "create";
            file_text: string;
            path: string;
        } | {
            /** @enum {string} */
            command: "str_replace";
            new_str?: string;
            old_str: string;
            path: string;
        } | {
            /** @enum {string} */
            command: "insert";
            /** Format: int64 */
            insert_line: number;
            insert_text: string;
            path: string;
        } | {
            /** @enum {string} */
            command: "undo_edit";
            path: string;
        };
        /**
         * @description The effort that a model puts into thinking. More of it is slower and costs more.
         * @enum {string}
         */
        Effort: "low" | "medium" | "high";
        /** @description Somebody who opened the Activity. */
        EnterActivity: {
            /**
             * Format: password
             * @description The code of their sign-in at Discord, with the scope `identify`. It is valid once.
             */
            code: string;
            /** @description The server at Discord in which they are. */
            guild_id: string;
        };
        /** @description The stream of the voice channel that somebody is in. */
        EnteredActivity: {
            /** @description The token of the watch link. */
            token: string;
        };
        /** @description Something failed. With a `turn` it ends that turn. */
        ErrorData: {
            /** @description Stable, for programs: `server_restarted`, `model_failed`, … */
            code: string;
            /** @description A sentence for people: the problem and the way out. */
            message: string;
            /** Format: uuid */
            turn?: string;
        };
        /** @description An eval: a suite of tasks, carried out on models. */
        Eval: {
            /** Format: double */
            budget_usd: number | null;
            /**
             * Format: double
             * @description The cost so far, with that of attempts that a restart of the server cut short.
             */
            cost_usd: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at: string | null;
            /** Format: uuid */
            id: string;
            models: string[];
            /**
             * Format: int64
             * @description The trials that have a result.
             */
            n_ended: number;
            /** Format: int64 */
            n_failed: number;
            /** Format: int64 */
            n_passed: number;
            /** Format: int64 */
            n_trials: number;
            /** Format: int64 */
            parallel: number;
            /**
             * Format: int64
             * @description The number of times that each model gets each task.
             */
            runs: number;
            state: components["schemas"]["EvalState"];
            /** @description The name of the suite. */
            suite: string;
            /** @description The reason why fewer trials run than could, while it is so: a limit of yours. */
            waits_for: string | null;
        };
        /** @description An eval with all its results so far. */
        EvalResults: components["schemas"]["Eval"] & {
            /** @description A sentence about the suite. It may be empty. */
            description: string;
            /** @description The figures of each model, in the order in which they were given. */
            figures: components["schemas"]["ModelFigures"][];
            /** @description The tasks in the order of the suite. */
            tasks: components["schemas"]["EvalTask"][];
        };
        /**
         * @description The state of an eval.
         * @enum {string}
         */
        EvalState: "running" | "done" | "stopped";
        /** @description A task of an eval. */
        EvalTask: {
            name: string;
            tags: string[];
            /** @description The prompt. */
            task: string;
            /** @description Its trials, by model in the order of the eval, then by round. */
            trials: components["schemas"]["Trial"][];
        };
        /** @description A page of evals, newest first. */
        EvalsPage: {
            evals: components["schemas"]["Eval"][];
            /**
             * Format: uuid
             * @description The `before` of the next page, if there is one.
             */
            next: string | null;
        };
        /** @description The kind of an event and its data. */
        EventBody: {
            data: components["schemas"]["StatusData"];
            /** @enum {string} */
            type: "status";
        } | {
            data: components["schemas"]["MessageData"];
            /** @enum {string} */
            type: "message";
        } | {
            data: components["schemas"]["QueueData"];
            /** @enum {string} */
            type: "queue";
        } | {
            data: components["schemas"]["LeaseData"];
            /** @enum {string} */
            type: "lease";
        } | {
            data: components["schemas"]["SaidData"];
            /** @enum {string} */
            type: "thinking";
        } | {
            data: components["schemas"]["SaidData"];
            /** @enum {string} */
            type: "text";
        } | {
            data: components["schemas"]["ToolUseData"];
            /** @enum {string} */
            type: "tool_use";
        } | {
            data: components["schemas"]["ToolResultData"];
            /** @enum {string} */
            type: "tool_result";
        } | {
            data: components["schemas"]["ScreenshotData"];
            /** @enum {string} */
            type: "screenshot";
        } | {
            data: components["schemas"]["DecisionData"];
            /** @enum {string} */
            type: "decision";
        } | {
            data: components["schemas"]["AnswerData"];
            /** @enum {string} */
            type: "answer";
        } | {
            data: components["schemas"]["CostData"];
            /** @enum {string} */
            type: "cost";
        } | {
            data: components["schemas"]["RetryData"];
            /** @enum {string} */
            type: "retry";
        } | {
            data: components["schemas"]["GatewayData"];
            /** @enum {string} */
            type: "gateway";
        } | {
            data: components["schemas"]["NetworkData"];
            /** @enum {string} */
            type: "network";
        } | {
            data: components["schemas"]["ModelData"];
            /** @enum {string} */
            type: "model";
        } | {
            data: components["schemas"]["ChangedData"];
            /** @enum {string} */
            type: "changed";
        } | {
            data: components["schemas"]["HandedOverData"];
            /** @enum {string} */
            type: "handed_over";
        } | {
            data: components["schemas"]["PlanData"];
            /** @enum {string} */
            type: "plan";
        } | {
            data: components["schemas"]["ArtifactData"];
            /** @enum {string} */
            type: "artifact";
        } | {
            data: components["schemas"]["PlacedData"];
            /** @enum {string} */
            type: "placed";
        } | {
            data: components["schemas"]["OpenedData"];
            /** @enum {string} */
            type: "opened";
        } | {
            data: components["schemas"]["NoticeData"];
            /** @enum {string} */
            type: "notice";
        } | {
            data: components["schemas"]["ToldData"];
            /** @enum {string} */
            type: "told";
        } | {
            data: components["schemas"]["SummaryData"];
            /** @enum {string} */
            type: "summary";
        } | {
            data: components["schemas"]["ErrorData"];
            /** @enum {string} */
            type: "error";
        } | {
            data: components["schemas"]["CompleteData"];
            /** @enum {string} */
            type: "complete";
        };
        /** @description A page of events, in order. */
        EventsPage: {
            events: components["schemas"]["SessionEvent"][];
        };
        /** @description A file, a folder, or something else in a folder. */
        File: {
            kind: components["schemas"]["FileKind"];
            /** Format: date-time */
            modified_at: string;
            /** @description The last part of the path. */
            name: string;
            /** @description The absolute path in the sandbox. */
            path: string;
            /**
             * Format: int64
             * @description The length of a file in bytes, and 0 for everything else.
             */
            size: number;
            /** @description The target of a link. */
            target: string | null;
            /** @description Changes whenever the file does. In quotes it is the file's `ETag`. */
            version: string;
        };
        /** @description Something to do with a path. */
        FileAction: {
            /** @enum {string} */
            action: "make_folder";
        } | {
            /** @enum {string} */
            action: "move";
            /** @description The new path: `~/a.txt` or `/tmp/a.txt`. */
            to: string;
        };
        FileHead: {
            /** Format: int64 */
            n_bytes: number;
            name: string;
        };
        /**
         * @description The kind of a thing in a folder.
         * @enum {string}
         */
        FileKind: "file" | "folder" | "link" | "other";
        /** @description The finding about one point. */
        Finding: {
            point: components["schemas"]["CheckedPoint"];
            /** @description The way out, if something is wrong. */
            remedy?: string;
            /** @description A sentence for people. */
            text: string;
            verdict: components["schemas"]["CheckVerdict"];
        };
        /** @description A page of a folder, in the order of names. */
        Folder: {
            entries: components["schemas"]["File"][];
            /**
             * Format: int64
             * @description The number of entries that are left out because their names are not UTF-8.
             */
            n_unnamed: number;
            /** @description The `after` of the next page, if there is one. */
            next: string | null;
            /** @description The absolute path in the sandbox. */
            path: string;
        };
        /** @description The form of the answer to a decision. */
        Form: {
            /** @enum {string} */
            type: "text";
        } | {
            choices: components["schemas"]["Choice"][];
            several: boolean;
            /** @enum {string} */
            type: "choices";
        } | {
            /** @enum {string} */
            type: "yes_no";
        } | {
            /** @enum {string} */
            type: "file";
        };
        /** @description A program in the sandbox called a model. The call is not part of the conversation. */
        GatewayData: {
            /** @description `vendor/name`. */
            model: string;
            /**
             * Format: uuid
             * @description The turn that was running. Absent when a person had control and the agent was idle.
             */
            turn?: string;
            /** @description The answer ended early, so it may have cost more. */
            unfinished?: boolean;
            /** @description The price of the model is unknown, so `usd` is 0. */
            unpriced?: boolean;
            usage: components["schemas"]["UsageData"];
            /**
             * Format: double
             * @description US dollars.
             */
            usd: number;
        };
        /**
         * @description A right that a link can give.
         * @enum {string}
         */
        GivenRight: "view" | "suggest" | "drive";
        /** @description A right to grant. */
        GrantRight: {
            /** @description The right. `owner` is an offer: they become the owner when they accept it. */
            right: components["schemas"]["Right"];
        };
        /** @description The session has another owner, who accepted it. Its desktop was stopped, and its links ended. */
        HandedOverData: {
            /**
             * Format: uuid
             * @description The owner before.
             */
            from: string;
            /** @description Their name at that time. */
            from_name: string;
            /** @description The right that the owner before keeps. */
            giver_keeps: components["schemas"]["Right"];
            /**
             * Format: uuid
             * @description The new owner.
             */
            to: string;
            to_name: string;
        };
        /** @description The health of the server and of its parts. */
        Health: {
            /**
             * @description The background work of the server, with its last result. A job that failed is tried again, and does not change
             *     `status`.
             */
            jobs: components["schemas"]["HealthJob"][];
            parts: components["schemas"]["HealthParts"];
            status: components["schemas"]["HealthStatus"];
            version: string;
        };
        /** @description A piece of background work. */
        HealthJob: {
            /**
             * Format: int64
             * @description The duration of the last run.
             */
            duration_ms?: number;
            last_result: components["schemas"]["HealthJobResult"];
            /**
             * Format: date-time
             * @description The end of the last run.
             */
            last_run_at?: string;
            name: string;
        };
        /**
         * @description The result of a job. It is `none` until the first run has ended. The server's log has the reason of a failure.
         * @enum {string}
         */
        HealthJobResult: "none" | "ok" | "failed";
        /** @description The health of one part. */
        HealthPart: {
            /** @description The problem and the place to look, if there is a problem. */
            message?: string;
            status: components["schemas"]["HealthStatus"];
        };
        /** @description The parts of the server. */
        HealthParts: {
            /** @description Nothing works without it. */
            database: components["schemas"]["HealthPart"];
            /** @description The web page in this program. */
            page: components["schemas"]["HealthPart"];
            /** @description The store of screenshots. */
            pictures: components["schemas"]["HealthPart"];
            /** @description The provider of sandboxes. */
            sandboxes: components["schemas"]["HealthPart"];
        };
        /**
         * @description `degraded`: some things do not work. `unhealthy`: nothing works.
         * @enum {string}
         */
        HealthStatus: "healthy" | "degraded" | "unhealthy";
        /** @description The use of a secret in requests to HTTP APIs. */
        HttpUse: {
            /** @description The environment variable in which programs find the stand-in. */
            env: string;
            /** @description The headers in which the value takes the place of its stand-in. */
            headers: string[];
        };
        /** @description An invitation for a user, or a reset of their sign-in. */
        InviteUser: {
            /** @description True for a user who has signed in before. All their sign-ins end, and their history says so. */
            reset?: boolean;
        };
        /** @description A link to follow. */
        JoinSession: {
            /**
             * Format: password
             * @description The code from a link into a session (`/#share=…`).
             */
            code: string;
        };
        /** @description The layout of a user's session page. */
        Layout: {
            /** @description The arrangement as the page stored it. Null if there is none. */
            layout?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The holder of the mouse and keyboard of a session's computer. */
        Lease: {
            /** @enum {string} */
            holder: "agent";
        } | {
            /** @enum {string} */
            holder: "person";
            name: string;
            /** Format: date-time */
            until: string;
            /** Format: uuid */
            user: string;
        } | {
            /** @enum {string} */
            holder: "nobody";
        };
        /** @description The kind of a change to a lease. */
        LeaseChange: {
            /** @enum {string} */
            change: "taken";
            /**
             * Format: uuid
             * @description The previous holder, if the owner took control from another person.
             */
            from?: string;
            /** Format: date-time */
            until: string;
        } | {
            /** @enum {string} */
            change: "extended";
            /** Format: date-time */
            until: string;
        } | {
            /** @enum {string} */
            change: "ended";
            reason: components["schemas"]["LeaseEnd"];
        };
        /** @description A lease began, was extended or ended. */
        LeaseData: components["schemas"]["LeaseChange"] & {
            /** @description Their name at that time. */
            name: string;
            /**
             * Format: uuid
             * @description The holder of the lease.
             */
            user: string;
        };
        /**
         * @description The reason for the end of a lease.
         * @enum {string}
         */
        LeaseEnd: "handed_back" | "expired" | "disconnected" | "right_lost" | "not_private" | "session_ended";
        /** @description Your limits and their usage. */
        LimitsInUse: {
            /** @description Your sessions that are awake. */
            awake_sessions: components["schemas"]["UsedOfLimit"];
            /**
             * Format: date-time
             * @description The time from which you can create another session, if you cannot now.
             */
            frees_at: string | null;
            /**
             * Format: int64
             * @description The time for which an idle session stays awake.
             */
            idle_seconds: number;
            /**
             * Format: int64
             * @description The maximum lifetime of a sandbox.
             */
            life_seconds: number;
            /** @description The sessions that you created in the last 24 hours. */
            sessions_per_day: components["schemas"]["UsedOfLimit"];
        };
        /** @description A port on which a program in the sandbox listens. */
        ListeningPort: {
            /** Format: int32 */
            port: number;
            /** @description The program's name, if it is known. Programs choose their own. */
            program?: string | null;
        };
        /** @description The surcharge for requests whose prompt is long. It holds for the whole request. */
        LongPrompts: {
            /**
             * Format: double
             * @description The factor for everything that is read.
             */
            input_factor: number;
            /** Format: double */
            output_factor: number;
            /**
             * Format: int64
             * @description Longer prompts than this cost more.
             */
            over_tokens: number;
        };
        /** @description A new link. */
        MadeShare: components["schemas"]["Share"] & {
            /** @description The code of the link, shown only once. */
            code: string;
            /**
             * Format: uri
             * @description The whole link, shown only once.
             */
            url: string;
        };
        /** @description A new token. */
        MadeToken: components["schemas"]["Token"] & {
            /** @description The token itself, shown only this once. */
            token: string;
        };
        /** @description A new watch link. */
        MadeWatchLink: components["schemas"]["WatchLink"] & {
            /**
             * Format: uri
             * @description The whole link, shown only once.
             */
            url: string;
        };
        /** @description An MCP server whose tools the agent is offered as `NAME__tool`. */
        McpServerSpec: {
            /** @description `a-z`, `0-9`, `-` and single `_` between others. */
            name: string;
            /**
             * Format: int32
             * @description The longest time that a call of one of its tools may take.
             */
            timeout_seconds?: number;
            transport: components["schemas"]["McpTransport"];
        };
        /**
         * @description The way to an MCP server. In the values of `env` and `headers`, `${secret:NAME}` stands for a secret for HTTP APIs
         *     of the session's owner.
         */
        McpTransport: {
            args?: string[];
            /** @description A path, or a name that is searched for as the shell does. */
            command: string;
            env?: {
                [key: string]: string;
            };
            /** @enum {string} */
            type: "stdio";
        } | {
            headers?: {
                [key: string]: string;
            };
            /** @enum {string} */
            type: "http";
            url: string;
        };
        /** @description A message of a person or the agent. */
        Message: {
            /** @description The files that came with it. */
            attachments?: components["schemas"]["Attachment"][];
            /**
             * Format: uuid
             * @description The person who wrote it, if one did.
             */
            author: string | null;
            /** @description Their name, even after they have left. */
            author_name: string | null;
            content: string;
            /** Format: date-time */
            created_at: string;
            delivery: components["schemas"]["Delivery"];
            /** @description The effort of the model that works on it, if it is not the session's. */
            effort?: components["schemas"]["Effort"];
            /** @description True if it waits until a person releases it, because they stopped the agent. */
            held?: boolean;
            /** Format: uuid */
            id: string;
            /** @description The model that works on it, if it is not the session's. */
            model: string | null;
            role: components["schemas"]["Role"];
            /** Format: uuid */
            session_id: string;
        };
        /** @description A message was accepted, or the agent gave its answer. */
        MessageData: {
            /** @description The files that came with it. */
            attachments?: components["schemas"]["AttachmentData"][];
            /** Format: uuid */
            author?: string;
            /** @description Their name at that time. */
            author_name?: string;
            content: string;
            /** @description `queue` when it is absent. */
            delivery?: components["schemas"]["Delivery"];
            /** @description The effort of the model that works on it, if it is not the session's. */
            effort?: components["schemas"]["Effort"];
            /** Format: uuid */
            id: string;
            /** @description The model that works on it, if it is not the session's. */
            model?: string;
            role: components["schemas"]["Role"];
            /** @description The page that the browser opens before the agent reads it. */
            start_url?: string;
            /**
             * Format: uuid
             * @description The turn that gave the answer.
             */
            turn?: string;
        };
        /** @description A page of messages, in order. */
        MessagesPage: {
            messages: components["schemas"]["Message"][];
            /**
             * Format: uuid
             * @description The `after` of the next page, if there is one.
             */
            next: string | null;
        };
        /** @description A model. */
        Model: {
            /** @description `vendor/name`. */
            name: string;
            price: components["schemas"]["Price"] | null;
            /** @description The reason why it cannot be used, and the way out. */
            problem: string | null;
            usable: boolean;
        };
        /** @description The outcome of a check of a model. */
        ModelCheck: {
            /**
             * Format: double
             * @description The approximate cost of a check in US dollars. Null if the model has no known price.
             */
            estimate_usd: number | null;
            /** @description `vendor/name`. */
            model: string;
            report: components["schemas"]["ModelReport"] | null;
        };
        /** @description A person gave the session another model, from its next turn on. */
        ModelData: {
            /** Format: uuid */
            by: string;
            /** @description Their name at that time. */
            by_name: string;
            /** @description `vendor/name`. */
            model: string;
        };
        /** @description The figures of one model over all tasks of an eval. */
        ModelFigures: {
            /** Format: double */
            median_seconds: number | null;
            /**
             * Format: double
             * @description The median of passed and failed trials, and so are the following.
             */
            median_steps: number | null;
            /** Format: double */
            median_usd: number | null;
            model: string;
            /**
             * Format: int64
             * @description The trials that say nothing about the model. They are in no other figure.
             */
            n_errors: number;
            /** Format: int64 */
            n_failed: number;
            /**
             * Format: int64
             * @description The trials that run or wait.
             */
            n_open: number;
            /** Format: int64 */
            n_passed: number;
            /** Format: int64 */
            n_skipped: number;
            success: components["schemas"]["Success"] | null;
            /**
             * Format: double
             * @description The cost of all its trials.
             */
            total_usd: number;
        };
        /** @description The report about one model. */
        ModelReport: {
            /**
             * Format: double
             * @description The cost of the check in US dollars. Null if the model has no known price.
             */
            cost_usd: number | null;
            /** @description One finding for each point, in the order of the check. */
            findings: components["schemas"]["Finding"][];
            /**
             * Format: int32
             * @description The number of calls of the model.
             */
            n_calls: number;
        };
        /** @description The models to choose from, usable ones first. */
        Models: {
            /** @description The model of a session for which none was chosen. It is one of `models`. */
            default: string;
            /** @description The models that are known by name. A vendor may have other usable models. */
            models: components["schemas"]["Model"][];
            /**
             * Format: date
             * @description The day of the listed prices, as `2026-11-16`.
             */
            prices_of?: string;
        };
        /** @description A program contacted a host for the first time, or was blocked. */
        NetworkData: {
            /** @description The reason if it was blocked. */
            blocked?: components["schemas"]["BlockReason"];
            /** @description A name, or an address that was used without a name. */
            host: string;
            /** Format: int32 */
            port: number;
        };
        /** @description One port of one host. */
        NetworkDestination: {
            /** @description The reason if the newest connection was blocked. */
            blocked?: components["schemas"]["BlockReason"];
            /**
             * Format: int64
             * @description The connections that were blocked.
             */
            blocked_connections: number;
            /**
             * Format: int64
             * @description The connections that were made.
             */
            connections: number;
            /** Format: date-time */
            first_at: string;
            /** @description A name, or an address that was used without a name. `*` stands for all beyond the thousand that are kept. */
            host: string;
            /** Format: date-time */
            last_at: string;
            /**
             * Format: int32
             * @description 0 if the lookup of the name was blocked.
             */
            port: number;
            /** @description The reason as a sentence. */
            reason?: string;
            /**
             * Format: int64
             * @description The bytes from the host to programs.
             */
            received_bytes: number;
            /**
             * Format: int64
             * @description The bytes from programs to the host.
             */
            sent_bytes: number;
        };
        /**
         * @description The kind of a policy, from the strictest.
         * @enum {string}
         */
        NetworkMode: "closed" | "allow" | "open";
        /** @description The hosts that the programs of a session may contact. */
        NetworkPolicy: {
            /**
             * @description Names, `*.name`, addresses and ranges, optionally followed by `:PORT` or `:FIRST-LAST`. They count in the mode
             *     `allow`, and are kept in the others.
             */
            allow?: string[];
            /** @description Hosts that are never contacted, written like those in `allow`. */
            block?: string[];
            mode: components["schemas"]["NetworkMode"];
        };
        /**
         * @description The reason why a call was not carried out, or not to its end.
         * @enum {string}
         */
        NotDone: "refused" | "unanswered" | "forbidden" | "skipped" | "stopped";
        /** @description A turn is close to a bound. The model gets a note about it too. */
        NoticeData: {
            bound: components["schemas"]["Bound"];
            /** Format: double */
            limit: number;
            /** @description A sentence for people. */
            message: string;
            /** Format: uuid */
            turn: string;
            /**
             * Format: double
             * @description In the unit of the bound.
             */
            used: number;
        };
        /** @description A session that its owner wants to hand over. It has no new owner before the other accepts. */
        Offer: {
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /**
             * Format: uuid
             * @description The owner.
             */
            from: string;
            from_name: string;
            /** @description True if there are instructions for its agent, which stay. */
            has_instructions: boolean;
            /**
             * Format: int64
             * @description The number of other people with a right in it. They keep the right to view it.
             */
            n_people: number;
            /** Format: uuid */
            session_id: string;
            session_title: string;
            /**
             * Format: uuid
             * @description The user who can accept.
             */
            to: string;
            to_name: string;
        };
        /** @description The open offers to you, oldest first. */
        Offers: {
            offers: components["schemas"]["Offer"][];
        };
        /** @description A terminal to open. */
        OpenTerminal: {
            /** @description Runs instead of an interactive shell. */
            command?: string;
            /** @description Without one, it is named after its number. */
            name?: string;
            size?: components["schemas"]["TerminalSize"];
        };
        /**
         * @description The page that a message begins with was opened in the browser, before the model read the message. A screenshot of it
         *     follows.
         */
        OpenedData: {
            /** Format: uuid */
            message: string;
            /** @description The reason why the page could not be opened. */
            problem?: string;
            /** @description The address of the page that is shown, as the page reports it. */
            shown_url?: string;
            /** @description The title, which the page chooses. */
            title?: string;
            /** Format: uuid */
            turn: string;
            /** @description The address as the message has it. */
            url: string;
        };
        /**
         * @description The way in which a turn ended.
         * @enum {string}
         */
        Outcome: "done" | "stopped" | "interrupted" | "enough";
        /** @description A bound that would be passed, in the bound's own unit. */
        OverBound: {
            bound: components["schemas"]["Bound"];
            /** Format: double */
            limit: number;
            /**
             * Format: double
             * @description The amount that a yes adds to the limit.
             */
            more: number;
            /** Format: double */
            used: number;
        };
        /** @description The hosts that all your sessions may contact, beside those that a session lists itself. */
        OwnNetwork: {
            /** @description Names, `*.name`, addresses and ranges, optionally followed by `:PORT` or `:FIRST-LAST`. */
            allow: string[];
        };
        /** @description Everyone who has a right in a session, the owner first. */
        People: {
            /** @description The open offer of the session. Only its owner sees it. */
            offer?: components["schemas"]["Offer"];
            people: components["schemas"]["Person"][];
        };
        /** @description A person who has a right in a session. */
        Person: {
            /** @description True if they have a stream open. */
            here: boolean;
            /** Format: uuid */
            id: string;
            name: string;
            right: components["schemas"]["Right"];
        };
        /** @description The files of a message were written to the sandbox. */
        PlacedData: {
            /** @description All files of the message, in its order. */
            files: components["schemas"]["PlacedFile"][];
            /** Format: uuid */
            message: string;
            /** Format: uuid */
            turn: string;
        };
        /** @description One file of a message, in the sandbox. */
        PlacedFile: {
            /** Format: uuid */
            attachment: string;
            /** @description Its path there. Absent if it could not be written. */
            path?: string;
            /** @description The reason why it could not be written. */
            problem?: string;
        };
        /** @description The agent changed its plan. */
        PlanData: {
            /** @description All steps, in order. */
            steps: components["schemas"]["PlanStep"][];
            /** Format: uuid */
            turn: string;
        };
        /** @description One step of a plan. */
        PlanStep: {
            state: components["schemas"]["StepState"];
            text: string;
        };
        /** @description A point on the screen, in native pixels from the top left. */
        Point: {
            /** Format: int32 */
            x: number;
            /** Format: int32 */
            y: number;
        };
        /** @description The ports on which programs listen in a sandbox. */
        Ports: {
            /** @description In order. Empty if the sandbox does not run. */
            ports: components["schemas"]["ListeningPort"][];
            /** @description The ports that everybody in the session may use, and not only people who may drive. */
            shared: number[];
            /** @description True if VS Code is installed. */
            vscode: boolean;
        };
        /**
         * @description A message about people between the events of a stream, if the client asks for it. It has no number and is not
         *     stored.
         */
        PresenceMessage: {
            data: components["schemas"]["Collaborator"];
            /** @enum {string} */
            type: "collaborator_join";
        } | {
            data: components["schemas"]["Collaborator"];
            /** @enum {string} */
            type: "collaborator_leave";
        };
        /** @description The price of a million tokens, in US dollars. */
        Price: {
            /** Format: double */
            cache_read: number;
            /** Format: double */
            cache_write: number;
            /**
             * Format: double
             * @description The price of tokens read, without those read from or written to the vendor's cache.
             */
            input: number;
            /** @description With the source `guessed`: the model whose price it is. */
            like?: string;
            /** @description The surcharge for long prompts, if there is one. */
            long?: components["schemas"]["LongPrompts"];
            /** Format: double */
            output: number;
            source?: components["schemas"]["PriceSource"];
        };
        /**
         * @description The origin of a price.
         * @enum {string}
         */
        PriceSource: "listed" | "set" | "guessed";
        /** @description The shape of all error responses. */
        Problem: {
            error: components["schemas"]["ProblemError"];
        };
        /** @description A refusal. */
        ProblemError: {
            /** @description Stable, for programs. */
            code: string;
            /** @description Numbers behind the message, if they help. */
            details?: unknown;
            /** @description A sentence for people. */
            message: string;
        };
        /** @description The use of a secret in requests to HTTP APIs. */
        PutHttpUse: {
            /** @description The environment variable in which programs find the stand-in, such as `GITHUB_TOKEN`. */
            env: string;
            /** @description The headers in which the value takes the place of its stand-in, such as `authorization`. */
            headers: string[];
        };
        /** @description A new layout. */
        PutLayout: {
            /** @description At most 16 KiB as JSON. */
            layout: {
                [key: string]: unknown;
            };
        };
        /** @description A secret to store. */
        PutSecret: {
            /** @description Present for a secret that programs send to HTTP APIs. It is never typed. */
            http?: components["schemas"]["PutHttpUse"];
            /** @description The sites where it can be used: scheme, host and port, such as `https://example.com`. */
            origins: string[];
            /** @description The text to type or to send. It cannot be read again. */
            value: string;
        };
        /** @description The waiting messages, in the order in which the agent will take them. */
        Queue: {
            messages: components["schemas"]["Message"][];
        };
        /** @description A change of a waiting message. */
        QueueChange: {
            /** @enum {string} */
            change: "edited";
            content: string;
        } | {
            /** @enum {string} */
            change: "redelivered";
            delivery: components["schemas"]["Delivery"];
        } | {
            /** @enum {string} */
            change: "reassigned";
            model?: string;
        } | {
            /** @enum {string} */
            change: "reweighed";
            effort?: components["schemas"]["Effort"];
        } | {
            /** Format: uuid */
            before?: string;
            /** @enum {string} */
            change: "moved";
        } | {
            /** @enum {string} */
            change: "held";
        } | {
            /** @enum {string} */
            change: "released";
        } | {
            /** @enum {string} */
            change: "removed";
        };
        /** @description A message was changed while it waited. */
        QueueData: components["schemas"]["QueueChange"] & {
            /** Format: uuid */
            by: string;
            /** Format: uuid */
            message: string;
        };
        /** @description A part of the screen: `x0 <= x < x1`, `y0 <= y < y1`. */
        Region: {
            /** Format: int32 */
            x0: number;
            /** Format: int32 */
            x1: number;
            /** Format: int32 */
            y0: number;
            /** Format: int32 */
            y1: number;
        };
        /** @description The new name of a terminal. */
        RenameTerminal: {
            name: string;
        };
        /** @description An answer as it is stored and sent: an object with one of `text`, `choices`, `yes` and `file`. */
        Reply: {
            text: string;
        } | {
            choices: string[];
        } | {
            /** @description The words for the agent that came with a no. */
            because?: string;
            /** @description The sessions in which the same is allowed from now on. Absent for a yes that counts once. */
            for?: components["schemas"]["AnswerScope"];
            yes: boolean;
        } | {
            file: components["schemas"]["FileHead"];
        };
        /** @description A part of a result's text. Points are separate from the text, since each model counts in pixels of its own. */
        ResultPart: {
            text: string;
        } | {
            /** @description A point in native pixels, written `(x, y)`. */
            point: components["schemas"]["Point"];
        } | {
            /** @description The same, written `X=…, Y=…`: the form in which models expect a pointer's position. */
            coordinates: components["schemas"]["Point"];
        };
        /** @description The model could not answer and is asked again. */
        RetryData: {
            /**
             * Format: int32
             * @description The number of the failed attempt at this answer, from 1.
             */
            attempt: number;
            /** @description The problem, in a sentence for people. */
            message: string;
            /** @description The model of the next attempt, if it is another one. */
            model?: string;
            /**
             * Format: date-time
             * @description The time of the next attempt.
             */
            next_at: string;
            /** @description The model refused to answer. The next one is not shown what it said of this answer. */
            refused?: boolean;
            /** Format: uuid */
            turn: string;
            /** @description The next attempt leaves out the attached files, because the model's vendor rejected a request with them. */
            without_files?: boolean;
        };
        /**
         * @description A right in a session. Each includes those before it.
         * @enum {string}
         */
        Right: "view" | "suggest" | "drive" | "owner";
        /** @enum {string} */
        Role: "user" | "assistant";
        /** @enum {string} */
        RuleTool: "computer" | "browser" | "bash" | "editor" | "fill_secret" | "http_secret" | "mcp" | "any";
        /** @description A piece of the model's thinking or text. Pieces with the same `turn` and `block` belong together. */
        SaidData: {
            /**
             * Format: int32
             * @description The number of the block in its turn, from 0. Thinking and text count together.
             */
            block: number;
            text: string;
            /** Format: uuid */
            turn: string;
        };
        /**
         * @description The state of a session's sandbox.
         * @enum {string}
         */
        SandboxState: "none" | "starting" | "ready" | "paused" | "stopped" | "lost";
        /** @description A token that opens one service of a sandbox, and the addresses of its services. */
        SandboxToken: {
            /** Format: date-time */
            expires_at: string;
            /**
             * @description The service that the token is for.
             * @example port-3000
             */
            service: string;
            /** @description Opens the address of `service` as the query parameter `token`. A JSON Web Token with `sub`, `sid` and `svc`. */
            token: string;
            /**
             * @description The addresses of the services by name: `vscode`, one `port-N` for each port on which a program listens, and
             *     the one that the token is for. `vnc` and `ttyd` are panels of the session's own page and need no token.
             */
            urls: {
                [key: string]: string;
            };
        };
        /**
         * @description The permissions of a token. Each includes those before it, except that metrics need `Metrics` or `Admin`.
         * @enum {string}
         */
        Scope: "metrics" | "read" | "write" | "admin";
        /** @description The agent or a person took a screenshot. */
        ScreenshotData: {
            blob: components["schemas"]["BlobName"];
            /** @description The tool use it belongs to. Absent when the agent looks after a person had control. */
            call?: string;
            /** Format: int32 */
            height: number;
            /** Format: uuid */
            turn?: string;
            /** Format: int32 */
            width: number;
        };
        /** @description A stored secret without its value. */
        Secret: {
            /** Format: date-time */
            created_at: string;
            /** @description Present if programs send it to HTTP APIs. It is never typed. */
            http?: components["schemas"]["HttpUse"];
            /**
             * Format: date-time
             * @description The time at which it was last typed or sent.
             */
            last_used_at: string | null;
            /**
             * Format: uuid
             * @description The session of the last use.
             */
            last_used_in: string | null;
            name: string;
            /** @description The sites where it can be used. */
            origins: string[];
            /** Format: date-time */
            updated_at: string;
        };
        /** @description Your secrets. */
        Secrets: {
            secrets: components["schemas"]["Secret"][];
        };
        /** @description A message to send. */
        SendMessage: {
            /** @description Files that the sender has uploaded, each once. With files, the text may be empty. */
            attachments?: string[];
            /** @description At most 256 KiB in UTF-8. It may be empty only if there are attachments. */
            content: string;
            delivery?: components["schemas"]["Delivery"];
            /**
             * @description The effort of the model that works on it. Without it the session's effort counts. A message that steers a turn
             *     does not change the turn's effort.
             */
            effort?: components["schemas"]["Effort"];
            /**
             * @description The model that works on it, as `vendor/name`. Without it the session's model does. A message that steers a
             *     turn does not change the turn's model.
             */
            model?: string | null;
        };
        /** @description A conversation with an agent. */
        Session: {
            /** @description The approvals that its agent needs. */
            approvals: components["schemas"]["ApprovalPolicy"];
            /** @description Its budget and usage. */
            budget: components["schemas"]["Budget"];
            /** @description The kind of its computer. */
            computer: components["schemas"]["ComputerKind"];
            /**
             * Format: double
             * @description The cost of its models so far, in US dollars.
             */
            cost_usd: number;
            /** Format: date-time */
            created_at: string;
            effort: components["schemas"]["Effort"] | null;
            /** Format: uuid */
            id: string;
            /** @description Instructions for its agent besides those for every agent. May be empty. */
            instructions: string;
            /**
             * Format: int64
             * @description The number of its newest event.
             */
            last_seq: number;
            /** @description The holder of the mouse and keyboard. */
            lease: components["schemas"]["Lease"];
            /** @description The MCP servers whose tools its agent is offered besides those of the deployment. */
            mcp_servers?: components["schemas"]["McpServerSpec"][];
            /** @description The caller's own notes. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description `vendor/name`. */
            model: string;
            /** @description The hosts that its programs may contact. */
            network: components["schemas"]["NetworkPolicy"];
            /**
             * Format: uuid
             * @description The user who owns it.
             */
            owner: string;
            /** @description Your right in it. */
            right: components["schemas"]["Right"];
            sandbox: components["schemas"]["SandboxState"];
            /** @description Facts that hold until the next event of their kind: the data of the newest event, by its `type`. */
            standing?: {
                [key: string]: unknown;
            };
            state: components["schemas"]["SessionState"];
            /** @description Empty until a person names the session or the first message does. */
            title: string;
            /**
             * Format: int64
             * @description The tokens that its models have read and written so far.
             */
            tokens: number;
            /** @description The tools by which its models drive the computer. */
            tools: components["schemas"]["DrivingTool"][];
            /** Format: date-time */
            updated_at: string;
        };
        /** @description One fact of a session's log. A newer server may send other types too: ignore them. */
        SessionEvent: components["schemas"]["EventBody"] & {
            /** Format: date-time */
            at: string;
            /**
             * Format: int64
             * @description Counted from 1 in each session, without gaps.
             */
            seq: number;
        };
        /** @description The network of a session, with a page of the hosts that its programs contacted or tried to. */
        SessionNetwork: {
            /** @description The loosest mode that the session can have. */
            ceiling: components["schemas"]["NetworkMode"];
            /** @description Those with the newest connection first. */
            destinations: components["schemas"]["NetworkDestination"][];
            /** @description The mode in force: that of the policy, unless the server's settings are stricter. */
            in_force: components["schemas"]["NetworkMode"];
            /**
             * Format: int64
             * @description The most bytes that it may transfer, if there is a limit.
             */
            most_bytes: number | null;
            /**
             * Format: int32
             * @description The `skip` of the next page, if there is one.
             */
            next: number | null;
            /**
             * Format: int64
             * @description The connections that are open now.
             */
            open_connections: number;
            /** @description The session's policy. */
            policy: components["schemas"]["NetworkPolicy"];
            /**
             * Format: int64
             * @description The bytes that the session has transferred so far, in both directions.
             */
            transferred_bytes: number;
        };
        /**
         * @description The activity of a session. On the wire this is its `state`.
         * @enum {string}
         */
        SessionState: "initializing" | "idle" | "running" | "waiting" | "error" | "terminated";
        /** @description A page of sessions, newest first. */
        SessionsPage: {
            /**
             * Format: uuid
             * @description The `before` of the next page, if there is one.
             */
            next: string | null;
            sessions: components["schemas"]["Session"][];
        };
        /** @description The most that may be used. An absent number means no limit. */
        SetBudget: {
            /**
             * Format: int64
             * @description Tokens, read and written by models.
             */
            tokens?: number;
            /**
             * Format: double
             * @description US dollars.
             */
            usd?: number;
        };
        /** @description A text to put on the clipboard. */
        SetClipboard: {
            text: string;
        };
        /** @description Your settings. */
        Settings: {
            /** @description The approvals that agents need in sessions that you create from now on. */
            approvals: components["schemas"]["ApprovalPolicy"];
        };
        /**
         * @description The state of a settled decision.
         * @enum {string}
         */
        SettledState: "answered" | "expired" | "withdrawn";
        /** @description A link that lets people into a session. */
        Share: {
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            right: components["schemas"]["GivenRight"];
            /** @description True if it ends with its first use. */
            single_use: boolean;
        };
        /** @description A link to create. */
        ShareSession: {
            /**
             * Format: date-time
             * @description The time of expiry, at most 90 days from now. A week from now by default.
             */
            expires_at?: string | null;
            right: components["schemas"]["GivenRight"];
            /** @description True if the link ends with its first use. */
            single_use?: boolean;
        };
        /** @description The valid links of a session. */
        Shares: {
            shares: components["schemas"]["Share"][];
        };
        /** @description A request to the shell. */
        ShellRequest: {
            command: string;
            /** @enum {string} */
            shell: "run";
            /**
             * Format: int64
             * @default 120000
             */
            timeout_ms?: number;
        } | {
            /** @enum {string} */
            shell: "restart";
        };
        /** @description A code to sign in with. */
        SignIn: {
            /**
             * Format: password
             * @description The code from a sign-in link (`/#code=…`). It is valid once, for ten minutes.
             */
            code: string;
            /** @description True to sign in although the browser is signed in as another user. That sign-in ends. */
            replace?: boolean;
        };
        /** @description A link that signs a user in once. */
        SignInLink: {
            /** Format: date-time */
            expires_at: string;
            /** Format: uri */
            url: string;
        };
        /** @description The browsers in which you are signed in, newest first. */
        SignIns: {
            sign_ins: components["schemas"]["SignedInBrowser"][];
        };
        /** @description A browser in which you are signed in. */
        SignedInBrowser: {
            /** @description The address from which the browser signed in, as the server saw it. */
            address: string | null;
            /** @description The name that the browser gives itself. */
            browser: string | null;
            /**
             * Format: date-time
             * @description Null for sign-ins of early versions.
             */
            created_at: string | null;
            /** @description True for the browser that asks. */
            current: boolean;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description Up to a minute behind after a server was killed.
             */
            last_used_at: string | null;
        };
        /** @description An eval to start. Either `suite` or `built_in` is required. */
        StartEval: {
            /**
             * Format: double
             * @description US dollars, at least the largest limit of its tasks. The eval does not cost more; what does not begin because of
             *     it is skipped. No limit by default.
             */
            budget_usd?: number;
            /** @description The name of a built-in suite, such as `desktop`. */
            built_in?: string;
            /** @description The models to measure, as `vendor/name`. Without any, the model of new sessions. */
            models?: string[];
            /**
             * Format: int64
             * @description The number of trials at the same time. Fewer run while your limits do not allow as many sessions. 4 by default.
             */
            parallel?: number;
            /**
             * Format: int64
             * @description The number of times that each model gets each task. 1 by default.
             */
            runs?: number;
            /** @description The suite as YAML: at most 512 KiB. */
            suite?: string;
            /** @description The tasks to run, by name. Without any, all tasks of the suite. */
            tasks?: string[];
        };
        /** @description The session or its sandbox changed state. */
        StatusData: {
            /**
             * Format: uuid
             * @description The message that the turn works on. A message that no status names is still waiting.
             */
            prompt?: string;
            /** @description The reason, if it is not obvious. */
            reason?: string;
            sandbox: components["schemas"]["SandboxState"];
            state: components["schemas"]["SessionState"];
            /**
             * Format: uuid
             * @description The turn that starts, takes another message, or resumes.
             */
            turn?: string;
        };
        /**
         * @description The progress of a step.
         * @enum {string}
         */
        StepState: "pending" | "doing" | "done";
        /**
         * @description A stream that somebody asked the Discord bot for. Ids of Discord are texts, since they do not fit into the numbers of
         *     JavaScript.
         */
        Stream: {
            channel_id: string;
            channel_name: string;
            /** Format: double */
            cost_usd: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at: string | null;
            /** @description The code of the error that ended it, such as `ERR_URL_UNREACHABLE`. */
            error_code: string | null;
            /** @description A sentence about that error. */
            error_message: string | null;
            guild_id: string;
            guild_name: string | null;
            /** Format: uuid */
            id: string;
            /**
             * Format: int64
             * @description The number of answers of models.
             */
            n_steps: number;
            /**
             * Format: int64
             * @description The number of people who watch by links at this moment.
             */
            n_watchers: number;
            /** @description The person who asked for it. */
            requester_id: string | null;
            /**
             * Format: uuid
             * @description The session that shows it. Null before there is one, and if it belongs to another user.
             */
            session: string | null;
            /**
             * Format: date-time
             * @description The time from which on people could watch.
             */
            started_at: string | null;
            state: components["schemas"]["StreamState"];
            /** @description The link that is streamed. */
            url: string;
            /**
             * Format: uri
             * @description The link by which people watch, while it is streaming.
             */
            watch_url: string | null;
        };
        /** @description A check of one setting. */
        StreamCheck: {
            /** @description A sentence for people, without its full stop. */
            message: string;
            /** @description A stable name, such as `public_url`. A newer server may send others. */
            name: string;
            /** @description The way out, if something is to be done. */
            remedy: string | null;
            state: components["schemas"]["StreamCheckState"];
        };
        /**
         * @description The result of one check of the settings.
         * @enum {string}
         */
        StreamCheckState: "ok" | "warning" | "failed";
        /** @description The figures of all streams so far. */
        StreamFigures: {
            /**
             * Format: double
             * @description The average time from a request until people could watch.
             */
            avg_start_time_seconds: number;
            /** Format: int64 */
            failed_sessions: number;
            /**
             * Format: int64
             * @description Streams that people could watch and that ended without an error.
             */
            successful_sessions: number;
            /** Format: double */
            total_cost_usd: number;
            /** Format: int64 */
            total_sessions: number;
            /** Format: double */
            total_streaming_seconds: number;
        };
        /** @description The state of the settings of streams. */
        StreamSetup: {
            checks: components["schemas"]["StreamCheck"][];
            /** @description True if this server runs streams. */
            is_on: boolean;
        };
        /**
         * @description The state of a stream.
         * @enum {string}
         */
        StreamState: "pending" | "starting" | "streaming" | "stopping" | "ended" | "failed";
        /** @description A page of streams, newest first. */
        StreamsPage: {
            /**
             * Format: uuid
             * @description The `before` of the next page, if there is one.
             */
            next: string | null;
            streams: components["schemas"]["Stream"][];
        };
        /** @description The tool use that needs a person's decision. */
        Subject: {
            input: unknown;
            tool: string;
        };
        /** @description A share, with its confidence interval. */
        Success: {
            /** Format: double */
            high: number;
            /**
             * Format: double
             * @description The lower end of the interval that contains the true rate with a confidence of 95 %.
             */
            low: number;
            /**
             * Format: double
             * @description From 0 to 1.
             */
            rate: number;
        };
        /**
         * @description The conversation became too long for the model and was shortened for it. The log keeps everything.
         *
         *     Messages and answers of people, the plan and the instructions are not part of the summary: the model gets them as
         *     they are.
         */
        SummaryData: {
            /**
             * @description The model's summary of everything before. Absent if only the results of earlier calls were shortened to a line
             *     each.
             */
            text?: string;
            /** Format: uuid */
            turn: string;
        };
        /** @description A request for control of the mouse and keyboard. */
        TakeControl: {
            /** @description True to take control from its current holder. Only the owner can. */
            force?: boolean;
            /**
             * Format: int32
             * @description The duration of the lease.
             * @default 300
             */
            seconds?: number | null;
        };
        /** @description A terminal. */
        Terminal: {
            /** @description Absent while it runs. */
            ended?: components["schemas"]["TerminalEnd"];
            /**
             * Format: uuid
             * @description Never used again.
             */
            id: string;
            name: string;
            /**
             * Format: int32
             * @description The number in the sandbox. 0 is the agent's shell, which can only be watched. A later sandbox counts anew.
             */
            number: number;
            /** @description True while a person has control and this terminal is from before: its programs are frozen. */
            paused: boolean;
            size: components["schemas"]["TerminalSize"];
        };
        /** @description The way in which a terminal ended. */
        TerminalEnd: {
            /** Format: int32 */
            code: number;
            /** @enum {string} */
            end: "exited";
        } | {
            /** @enum {string} */
            end: "killed";
        };
        /** @description A text message to a viewer of a terminal. Output comes in binary messages. */
        TerminalMessage: {
            /** @description The reason why you cannot type. Absent if you can. */
            read_only?: components["schemas"]["TerminalReadOnly"];
            terminal: components["schemas"]["Terminal"];
            /** @enum {string} */
            type: "state";
        } | {
            /** @description True if you read too slowly and missed output. False at the beginning. */
            missed: boolean;
            /** @enum {string} */
            type: "replay";
        };
        /**
         * @description The reason why a viewer cannot type into a terminal.
         * @enum {string}
         */
        TerminalReadOnly: "ended" | "agent_shell" | "watching" | "control" | "paused";
        /** @description A text message of a viewer. Input goes in binary messages. */
        TerminalRequest: {
            /** Format: int32 */
            cols: number;
            /** Format: int32 */
            rows: number;
            /** @enum {string} */
            type: "resize";
        };
        /** @description The number of rows and columns of characters. */
        TerminalSize: {
            /** Format: int32 */
            cols: number;
            /** Format: int32 */
            rows: number;
        };
        /** @description The terminals of a session. */
        Terminals: {
            /**
             * @description The agent's shell, and then the others in the order in which they were opened. Empty while the sandbox does not
             *     run.
             */
            terminals: components["schemas"]["Terminal"][];
        };
        /** @enum {string} */
        Then: "ask" | "allow" | "refuse";
        /** @description A token without its secret. */
        Token: {
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Null if it never expires.
             */
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            last_used_at: string | null;
            name: string;
            /** @description Its first characters, by which people recognise it. Empty for tokens of early versions. */
            prefix: string;
            scope: components["schemas"]["Scope"];
        };
        /** @description Your tokens. */
        Tokens: {
            tokens: components["schemas"]["Token"][];
        };
        /** @description Tokens that models read and wrote. */
        TokensOfBudget: {
            /**
             * Format: int64
             * @description Includes additional grants. Null means no limit.
             */
            limit: number | null;
            /** Format: int64 */
            used: number;
        };
        /**
         * @description The model was told in the conversation that something changed since the session's first turn: its system text and
         *     its tools stay as they were then.
         */
        ToldData: {
            /** @description Everything that the model knows now, for the server to find the next change. */
            facts: Record<string, never>;
            /** @description The note as the model reads it. */
            text: string;
            /** Format: uuid */
            turn: string;
        };
        /**
         * @description A tool: `computer` takes an `Action`, `bash` a `ShellRequest`, `editor` an `EditCommand`.
         * @enum {string}
         */
        Tool: "computer" | "bash" | "editor";
        /** @description The input of a tool. */
        ToolInput: components["schemas"]["Action"] | components["schemas"]["ShellRequest"] | components["schemas"]["EditCommand"];
        /** @description The result of a tool use. */
        ToolResultData: {
            call: string;
            /** Format: int64 */
            duration_ms: number;
            is_error: boolean;
            /** @description The reason why the call was not carried out, or not to its end, if it did not fail by itself. */
            not_done?: components["schemas"]["NotDone"];
            /** @description More results of the same call follow, and `text` has only the new part. The last result has all of it. */
            partial?: boolean;
            /** @description The text in parts, if it contains points: each model receives them in its own pixels. */
            parts?: components["schemas"]["ResultPart"][];
            /** @description Facts for programs, such as a command's exit code. */
            state?: Record<string, never>;
            text: string;
            /** Format: uuid */
            turn?: string;
        };
        /** @description A tool is about to be used. */
        ToolUseData: {
            /**
             * Format: uuid
             * @description The person who did it by hand.
             */
            by?: string;
            /** @description Pairs the use with its result. */
            call: string;
            /** @description The points that a person must agree to first. */
            checks?: components["schemas"]["Check"][];
            /**
             * @description A sentence for people: `Clicked at (783, 283)`. Absent if the tool could not read its input, and in logs of
             *     earlier versions.
             */
            description?: string;
            /** @description The tool's input, or the text that the model sent if it was not valid input. */
            input: unknown;
            /** @description The tool's name, or the name that the model gave if there is no such tool. */
            tool: string;
            /**
             * Format: uuid
             * @description Absent when a person did it by hand.
             */
            turn?: string;
        };
        /** @description A trial: one task, given to one model once. */
        Trial: {
            /** Format: double */
            cost_usd: number;
            /** Format: date-time */
            ended_at: string | null;
            model: string;
            /**
             * Format: int64
             * @description The number of times that a restart of the server cut it short and it began anew.
             */
            n_restarts: number;
            /**
             * Format: int64
             * @description The answers of the model.
             */
            n_steps: number;
            /**
             * Format: int64
             * @description The number in its eval, in the order in which they begin, counted from 0.
             */
            number: number;
            /** @description A sentence about the result: the last line of the checker, or the problem. */
            reason: string | null;
            /**
             * Format: int64
             * @description Counted from 1.
             */
            round: number;
            /**
             * Format: double
             * @description The time from the prompt to the end of the turn.
             */
            seconds: number | null;
            /**
             * Format: uuid
             * @description Its session, from its start on. Null if it was deleted.
             */
            session: string | null;
            /** Format: date-time */
            started_at: string | null;
            state: components["schemas"]["TrialState"];
        };
        /**
         * @description The state of one trial: one task, given to one model once.
         * @enum {string}
         */
        TrialState: "waiting" | "running" | "passed" | "failed" | "error" | "skipped";
        /** @description The usage of the models in all your sessions. */
        Usage: {
            /** @description The usage since the first of the month. */
            month: components["schemas"]["Amount"];
            /**
             * Format: date-time
             * @description The start of the next day.
             */
            next_day_at: string;
            /** @description The usage since midnight UTC, and the limit until the next midnight. */
            today: components["schemas"]["Budget"];
        };
        /** @description The tokens that an answer used. */
        UsageData: {
            /** Format: int64 */
            cache_read: number;
            /** Format: int64 */
            cache_write: number;
            /**
             * Format: int64
             * @description The part of `cache_write` that the vendor keeps for an hour.
             */
            cache_write_hour?: number;
            /**
             * Format: int64
             * @description Tokens read, without those read from or written to the vendor's cache.
             */
            input: number;
            /** Format: int64 */
            output: number;
        };
        /** @description US dollars. */
        UsdOfBudget: {
            /**
             * Format: double
             * @description Includes additional grants. Null means no limit.
             */
            limit: number | null;
            /** Format: double */
            used: number;
        };
        /** @description A limit and its usage. */
        UsedOfLimit: {
            /** Format: int32 */
            limit: number;
            /** Format: int64 */
            used: number;
        };
        /** @description A person who can sign in. */
        User: {
            /** @description False if the user is signed out everywhere and cannot sign in. */
            active: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            name: string;
            role: components["schemas"]["UserRole"];
        };
        /** @description The limits of one user. The server's settings apply where a field is absent or null. */
        UserLimits: {
            /**
             * Format: int32
             * @description The maximum number of their sessions that can be awake at the same time.
             */
            awake_sessions?: number | null;
            /**
             * Format: int64
             * @description The tokens they can use in a day. 0 means no limit.
             */
            day_tokens?: number | null;
            /**
             * Format: double
             * @description The budget for the models of their sessions in a day, in US dollars. 0 means no limit.
             */
            day_usd?: number | null;
            /**
             * Format: int32
             * @description The time for which their idle sessions stay awake.
             */
            idle_seconds?: number | null;
            /**
             * Format: int32
             * @description The maximum lifetime of one of their sandboxes.
             */
            life_seconds?: number | null;
            /**
             * Format: int32
             * @description The maximum number of sessions that they can create in 24 hours.
             */
            sessions_per_day?: number | null;
        };
        /** @enum {string} */
        UserRole: "admin" | "member";
        /** @description A page of users, oldest first. */
        UsersPage: {
            /**
             * Format: uuid
             * @description The `after` of the next page, if there is one.
             */
            next: string | null;
            users: components["schemas"]["User"][];
        };
        /** @description What a watch link shows. */
        Watch: {
            /** @description The number of people who watch by links. */
            n_watchers: number;
            /** @description True while a person has control. Watchers see and hear nothing then. */
            paused: boolean;
            state: components["schemas"]["WatchStage"];
            /** @description The title of the session. It may be empty. */
            title: string;
            /** @description The names of the first 20 of them. Those who give none are called Guest. */
            watchers: string[];
        };
        /** @description A link by which everybody can watch a session. */
        WatchLink: {
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
        };
        /** @description The valid watch links of a session. */
        WatchLinks: {
            links: components["schemas"]["WatchLink"][];
        };
        /**
         * @description The state of what a watch link shows.
         * @enum {string}
         */
        WatchStage: "not_started" | "live" | "ended";
    };
}
export type AcceptOffer = components['schemas']['AcceptOffer'];
export type Act = components['schemas']['Act'];
export type Acted = components['schemas']['Acted'];
export type Action = components['schemas']['Action'];
export type ActiveStreams = components['schemas']['ActiveStreams'];
export type Activity = components['schemas']['Activity'];
export type Amount = components['schemas']['Amount'];
export type AnswerData = components['schemas']['AnswerData'];
export type AnswerDecision = components['schemas']['AnswerDecision'];
export type AnswerFile = components['schemas']['AnswerFile'];
export type AnswerScope = components['schemas']['AnswerScope'];
export type ApprovalMode = components['schemas']['ApprovalMode'];
export type ApprovalPolicy = components['schemas']['ApprovalPolicy'];
export type ApprovalRule = components['schemas']['ApprovalRule'];
export type ArtifactData = components['schemas']['ArtifactData'];
export type Attachment = components['schemas']['Attachment'];
export type AttachmentData = components['schemas']['AttachmentData'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditPage = components['schemas']['AuditPage'];
export type BlobName = components['schemas']['BlobName'];
export type BlockReason = components['schemas']['BlockReason'];
export type Bound = components['schemas']['Bound'];
export type Budget = components['schemas']['Budget'];
export type BuiltInSuite = components['schemas']['BuiltInSuite'];
export type BuiltInSuites = components['schemas']['BuiltInSuites'];
export type BusEvent = components['schemas']['BusEvent'];
export type BusMessage = components['schemas']['BusMessage'];
export type BusNotice = components['schemas']['BusNotice'];
export type BusRefusal = components['schemas']['BusRefusal'];
export type BusRequest = components['schemas']['BusRequest'];
export type BusSession = components['schemas']['BusSession'];
export type BusSessionId = components['schemas']['BusSessionId'];
export type BusSnapshot = components['schemas']['BusSnapshot'];
export type Button = components['schemas']['Button'];
export type ChangeBudget = components['schemas']['ChangeBudget'];
export type ChangeMessage = components['schemas']['ChangeMessage'];
export type ChangeSession = components['schemas']['ChangeSession'];
export type ChangeUser = components['schemas']['ChangeUser'];
export type ChangedData = components['schemas']['ChangedData'];
export type Check = components['schemas']['Check'];
export type CheckModel = components['schemas']['CheckModel'];
export type CheckVerdict = components['schemas']['CheckVerdict'];
export type CheckedPoint = components['schemas']['CheckedPoint'];
export type Choice = components['schemas']['Choice'];
export type Clipboard = components['schemas']['Clipboard'];
export type Collaborator = components['schemas']['Collaborator'];
export type CompleteData = components['schemas']['CompleteData'];
export type ComputerKind = components['schemas']['ComputerKind'];
export type CostData = components['schemas']['CostData'];
export type CreateSession = components['schemas']['CreateSession'];
export type CreateToken = components['schemas']['CreateToken'];
export type CreateUser = components['schemas']['CreateUser'];
export type CreateWatchLink = components['schemas']['CreateWatchLink'];
export type Decision = components['schemas']['Decision'];
export type DecisionData = components['schemas']['DecisionData'];
export type DecisionKind = components['schemas']['DecisionKind'];
export type DecisionState = components['schemas']['DecisionState'];
export type DecisionsPage = components['schemas']['DecisionsPage'];
export type Delivery = components['schemas']['Delivery'];
export type DrivingTool = components['schemas']['DrivingTool'];
export type EditCommand = components['schemas']['EditCommand'];
export type Effort = components['schemas']['Effort'];
export type EnterActivity = components['schemas']['EnterActivity'];
export type EnteredActivity = components['schemas']['EnteredActivity'];
export type ErrorData = components['schemas']['ErrorData'];
export type Eval = components['schemas']['Eval'];
export type EvalResults = components['schemas']['EvalResults'];
export type EvalState = components['schemas']['EvalState'];
export type EvalTask = components['schemas']['EvalTask'];
export type EvalsPage = components['schemas']['EvalsPage'];
export type EventBody = components['schemas']['EventBody'];
export type EventsPage = components['schemas']['EventsPage'];
export type File = components['schemas']['File'];
export type FileAction = components['schemas']['FileAction'];
export type FileHead = components['schemas']['FileHead'];
export type FileKind = components['schemas']['FileKind'];
export type Finding = components['schemas']['Finding'];
export type Folder = components['schemas']['Folder'];
export type Form = components['schemas']['Form'];
export type GatewayData = components['schemas']['GatewayData'];
export type GivenRight = components['schemas']['GivenRight'];
export type GrantRight = components['schemas']['GrantRight'];
export type HandedOverData = components['schemas']['HandedOverData'];
export type Health = components['schemas']['Health'];
export type HealthJob = components['schemas']['HealthJob'];
export type HealthJobResult = components['schemas']['HealthJobResult'];
export type HealthPart = components['schemas']['HealthPart'];
export type HealthParts = components['schemas']['HealthParts'];
export type HealthStatus = components['schemas']['HealthStatus'];
export type HttpUse = components['schemas']['HttpUse'];
export type InviteUser = components['schemas']['InviteUser'];
export type JoinSession = components['schemas']['JoinSession'];
export type Layout = components['schemas']['Layout'];
export type Lease = components['schemas']['Lease'];
export type LeaseChange = components['schemas']['LeaseChange'];
export type LeaseData = components['schemas']['LeaseData'];
export type LeaseEnd = components['schemas']['LeaseEnd'];
export type LimitsInUse = components['schemas']['LimitsInUse'];
export type ListeningPort = components['schemas']['ListeningPort'];
export type LongPrompts = components['schemas']['LongPrompts'];
export type MadeShare = components['schemas']['MadeShare'];
export type MadeToken = components['schemas']['MadeToken'];
export type MadeWatchLink = components['schemas']['MadeWatchLink'];
export type McpServerSpec = components['schemas']['McpServerSpec'];
export type McpTransport = components['schemas']['McpTransport'];
export type Message = components['schemas']['Message'];
export type MessageData = components['schemas']['MessageData'];
export type MessagesPage = components['schemas']['MessagesPage'];
export type Model = components['schemas']['Model'];
export type ModelCheck = components['schemas']['ModelCheck'];
export type ModelData = components['schemas']['ModelData'];
export type ModelFigures = components['schemas']['ModelFigures'];
export type ModelReport = components['schemas']['ModelReport'];
export type Models = components['schemas']['Models'];
export type NetworkData = components['schemas']['NetworkData'];
export type NetworkDestination = components['schemas']['NetworkDestination'];
export type NetworkMode = components['schemas']['NetworkMode'];
export type NetworkPolicy = components['schemas']['NetworkPolicy'];
export type NotDone = components['schemas']['NotDone'];
export type NoticeData = components['schemas']['NoticeData'];
export type Offer = components['schemas']['Offer'];
export type Offers = components['schemas']['Offers'];
export type OpenTerminal = components['schemas']['OpenTerminal'];
export type OpenedData = components['schemas']['OpenedData'];
export type Outcome = components['schemas']['Outcome'];
export type OverBound = components['schemas']['OverBound'];
export type OwnNetwork = components['schemas']['OwnNetwork'];
export type People = components['schemas']['People'];
export type Person = components['schemas']['Person'];
export type PlacedData = components['schemas']['PlacedData'];
export type PlacedFile = components['schemas']['PlacedFile'];
export type PlanData = components['schemas']['PlanData'];
export type PlanStep = components['schemas']['PlanStep'];
export type Point = components['schemas']['Point'];
export type Ports = components['schemas']['Ports'];
export type PresenceMessage = components['schemas']['PresenceMessage'];
export type Price = components['schemas']['Price'];
export type PriceSource = components['schemas']['PriceSource'];
export type Problem = components['schemas']['Problem'];
export type ProblemError = components['schemas']['ProblemError'];
export type PutHttpUse = components['schemas']['PutHttpUse'];
export type PutLayout = components['schemas']['PutLayout'];
export type PutSecret = components['schemas']['PutSecret'];
export type Queue = components['schemas']['Queue'];
export type QueueChange = components['schemas']['QueueChange'];
export type QueueData = components['schemas']['QueueData'];
export type Region = components['schemas']['Region'];
export type RenameTerminal = components['schemas']['RenameTerminal'];
export type Reply = components['schemas']['Reply'];
export type ResultPart = components['schemas']['ResultPart'];
export type RetryData = components['schemas']['RetryData'];
export type Right = components['schemas']['Right'];
export type Role = components['schemas']['Role'];
export type RuleTool = components['schemas']['RuleTool'];
export type SaidData = components['schemas']['SaidData'];
export type SandboxState = components['schemas']['SandboxState'];
export type SandboxToken = components['schemas']['SandboxToken'];
export type Scope = components['schemas']['Scope'];
export type ScreenshotData = components['schemas']['ScreenshotData'];
export type Secret = components['schemas']['Secret'];
export type Secrets = components['schemas']['Secrets'];
export type SendMessage = components['schemas']['SendMessage'];
export type Session = components['schemas']['Session'];
export type SessionEvent = components['schemas']['SessionEvent'];
export type SessionNetwork = components['schemas']['SessionNetwork'];
export type SessionState = components['schemas']['SessionState'];
export type SessionsPage = components['schemas']['SessionsPage'];
export type SetBudget = components['schemas']['SetBudget'];
export type SetClipboard = components['schemas']['SetClipboard'];
export type Settings = components['schemas']['Settings'];
export type SettledState = components['schemas']['SettledState'];
export type Share = components['schemas']['Share'];
export type ShareSession = components['schemas']['ShareSession'];
export type Shares = components['schemas']['Shares'];
export type ShellRequest = components['schemas']['ShellRequest'];
export type SignIn = components['schemas']['SignIn'];
export type SignInLink = components['schemas']['SignInLink'];
export type SignIns = components['schemas']['SignIns'];
export type SignedInBrowser = components['schemas']['SignedInBrowser'];
export type StartEval = components['schemas']['StartEval'];
export type StatusData = components['schemas']['StatusData'];
export type StepState = components['schemas']['StepState'];
export type Stream = components['schemas']['Stream'];
export type StreamCheck = components['schemas']['StreamCheck'];
export type StreamCheckState = components['schemas']['StreamCheckState'];
export type StreamFigures = components['schemas']['StreamFigures'];
export type StreamSetup = components['schemas']['StreamSetup'];
export type StreamState = components['schemas']['StreamState'];
export type StreamsPage = components['schemas']['StreamsPage'];
export type Subject = components['schemas']['Subject'];
export type Success = components['schemas']['Success'];
export type SummaryData = components['schemas']['SummaryData'];
export type TakeControl = components['schemas']['TakeControl'];
export type Terminal = components['schemas']['Terminal'];
export type TerminalEnd = components['schemas']['TerminalEnd'];
export type TerminalMessage = components['schemas']['TerminalMessage'];
export type TerminalReadOnly = components['schemas']['TerminalReadOnly'];
export type TerminalRequest = components['schemas']['TerminalRequest'];
export type TerminalSize = components['schemas']['TerminalSize'];
export type Terminals = components['schemas']['Terminals'];
export type Then = components['schemas']['Then'];
export type Token = components['schemas']['Token'];
export type Tokens = components['schemas']['Tokens'];
export type TokensOfBudget = components['schemas']['TokensOfBudget'];
export type ToldData = components['schemas']['ToldData'];
export type Tool = components['schemas']['Tool'];
export type ToolInput = components['schemas']['ToolInput'];
export type ToolResultData = components['schemas']['ToolResultData'];
export type ToolUseData = components['schemas']['ToolUseData'];
export type Trial = components['schemas']['Trial'];
export type TrialState = components['schemas']['TrialState'];
export type Usage = components['schemas']['Usage'];
export type UsageData = components['schemas']['UsageData'];
export type UsdOfBudget = components['schemas']['UsdOfBudget'];
export type UsedOfLimit = components['schemas']['UsedOfLimit'];
export type User = components['schemas']['User'];
export type UserLimits = components['schemas']['UserLimits'];
export type UserRole = components['schemas']['UserRole'];
export type UsersPage = components['schemas']['UsersPage'];
export type Watch = components['schemas']['Watch'];
export type WatchLink = components['schemas']['WatchLink'];
export type WatchLinks = components['schemas']['WatchLinks'];
export type WatchStage = components['schemas']['WatchStage'];

/** The body and the answer of each operation. */
export interface Operations {
    "GET /api/activity": { body: undefined; answer: Activity };
    "POST /api/activity": { body: EnterActivity; answer: EnteredActivity };
    "GET /api/audit": { body: undefined; answer: AuditPage };
    "GET /api/blobs/{name}": { body: undefined; answer: unknown };
    "GET /api/decisions": { body: undefined; answer: DecisionsPage };
    "GET /api/docs": { body: undefined; answer: unknown };
    "GET /api/docs/{file}": { body: undefined; answer: unknown };
    "GET /api/eval-suites": { body: undefined; answer: BuiltInSuites };
    "GET /api/evals": { body: undefined; answer: EvalsPage };
    "POST /api/evals": { body: StartEval; answer: EvalResults };
    "GET /api/evals/{id}": { body: undefined; answer: EvalResults };
    "DELETE /api/evals/{id}": { body: undefined; answer: undefined };
    "POST /api/evals/{id}/stop": { body: undefined; answer: EvalResults };
    "GET /api/me": { body: undefined; answer: User };
    "GET /api/me/audit": { body: undefined; answer: AuditPage };
    "GET /api/me/layout": { body: undefined; answer: Layout };
    "PUT /api/me/layout": { body: PutLayout; answer: undefined };
    "GET /api/me/limits": { body: undefined; answer: LimitsInUse };
    "GET /api/me/network": { body: undefined; answer: OwnNetwork };
    "PUT /api/me/network": { body: OwnNetwork; answer: OwnNetwork };
    "GET /api/me/offers": { body: undefined; answer: Offers };
    "DELETE /api/me/offers/{session}": { body: undefined; answer: undefined };
    "POST /api/me/offers/{session}/accept": { body: AcceptOffer; answer: Session };
    "GET /api/me/usage": { body: undefined; answer: Usage };
    "GET /api/models": { body: undefined; answer: Models };
    "POST /api/models/check": { body: CheckModel; answer: ModelCheck };
    "GET /api/openapi.json": { body: undefined; answer: unknown };
    "GET /api/secrets": { body: undefined; answer: Secrets };
    "PUT /api/secrets/{name}": { body: PutSecret; answer: undefined };
    "DELETE /api/secrets/{name}": { body: undefined; answer: undefined };
    "GET /api/sessions": { body: undefined; answer: SessionsPage };
    "POST /api/sessions": { body: CreateSession; answer: Session };
    "GET /api/sessions/{id}": { body: undefined; answer: Session };
    "PATCH /api/sessions/{id}": { body: ChangeSession; answer: Session };
    "DELETE /api/sessions/{id}": { body: undefined; answer: undefined };
    "POST /api/sessions/{id}/actions": { body: Act; answer: Acted };
    "GET /api/sessions/{id}/artifacts/{seq}": { body: undefined; answer: unknown };
    "POST /api/sessions/{id}/attachments": { body: unknown; answer: Attachment };
    "GET /api/sessions/{id}/attachments/{attachment}": { body: undefined; answer: unknown };
    "DELETE /api/sessions/{id}/attachments/{attachment}": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/clipboard": { body: undefined; answer: Clipboard };
    "PUT /api/sessions/{id}/clipboard": { body: SetClipboard; answer: undefined };
    "GET /api/sessions/{id}/decisions": { body: undefined; answer: DecisionsPage };
    "POST /api/sessions/{id}/decisions/{decision}/answer": { body: AnswerDecision; answer: Decision };
    "GET /api/sessions/{id}/events": { body: undefined; answer: EventsPage };
    "GET /api/sessions/{id}/files": { body: undefined; answer: Folder };
    "GET /api/sessions/{id}/files/{path}": { body: undefined; answer: Folder };
    "POST /api/sessions/{id}/files/{path}": { body: FileAction; answer: File };
    "PUT /api/sessions/{id}/files/{path}": { body: unknown; answer: File };
    "DELETE /api/sessions/{id}/files/{path}": { body: undefined; answer: undefined };
    "PUT /api/sessions/{id}/lease": { body: TakeControl; answer: Lease };
    "DELETE /api/sessions/{id}/lease": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/messages": { body: undefined; answer: MessagesPage };
    "POST /api/sessions/{id}/messages": { body: SendMessage; answer: Message };
    "GET /api/sessions/{id}/network": { body: undefined; answer: SessionNetwork };
    "DELETE /api/sessions/{id}/offer": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/people": { body: undefined; answer: People };
    "GET /api/sessions/{id}/people/{user}": { body: undefined; answer: Person };
    "PUT /api/sessions/{id}/people/{user}": { body: GrantRight; answer: Person };
    "DELETE /api/sessions/{id}/people/{user}": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/ports": { body: undefined; answer: Ports };
    "GET /api/sessions/{id}/queue": { body: undefined; answer: Queue };
    "DELETE /api/sessions/{id}/queue": { body: undefined; answer: Queue };
    "PATCH /api/sessions/{id}/queue/{message}": { body: ChangeMessage; answer: Queue };
    "DELETE /api/sessions/{id}/queue/{message}": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/sandbox-token": { body: undefined; answer: SandboxToken };
    "GET /api/sessions/{id}/screenshot": { body: undefined; answer: unknown };
    "PUT /api/sessions/{id}/shared-ports/{port}": { body: undefined; answer: undefined };
    "DELETE /api/sessions/{id}/shared-ports/{port}": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/shares": { body: undefined; answer: Shares };
    "POST /api/sessions/{id}/shares": { body: ShareSession; answer: MadeShare };
    "DELETE /api/sessions/{id}/shares/{share}": { body: undefined; answer: undefined };
    "POST /api/sessions/{id}/stop": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/terminals": { body: undefined; answer: Terminals };
    "POST /api/sessions/{id}/terminals": { body: OpenTerminal; answer: Terminal };
    "PATCH /api/sessions/{id}/terminals/{n}": { body: RenameTerminal; answer: Terminal };
    "DELETE /api/sessions/{id}/terminals/{n}": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/watch-links": { body: undefined; answer: WatchLinks };
    "POST /api/sessions/{id}/watch-links": { body: CreateWatchLink; answer: MadeWatchLink };
    "DELETE /api/sessions/{id}/watch-links/{link}": { body: undefined; answer: undefined };
    "GET /api/settings": { body: undefined; answer: Settings };
    "PATCH /api/settings": { body: Settings; answer: Settings };
    "POST /api/shares/join": { body: JoinSession; answer: Session };
    "POST /api/sign-in": { body: SignIn; answer: undefined };
    "POST /api/sign-in-links": { body: undefined; answer: SignInLink };
    "GET /api/sign-ins": { body: undefined; answer: SignIns };
    "DELETE /api/sign-ins": { body: undefined; answer: undefined };
    "DELETE /api/sign-ins/{id}": { body: undefined; answer: undefined };
    "POST /api/sign-out": { body: undefined; answer: undefined };
    "GET /api/streams": { body: undefined; answer: StreamsPage };
    "GET /api/streams/active": { body: undefined; answer: ActiveStreams };
    "GET /api/streams/figures": { body: undefined; answer: StreamFigures };
    "GET /api/streams/setup": { body: undefined; answer: StreamSetup };
    "POST /api/streams/{id}/stop": { body: undefined; answer: undefined };
    "GET /api/tokens": { body: undefined; answer: Tokens };
    "POST /api/tokens": { body: CreateToken; answer: MadeToken };
    "DELETE /api/tokens/{id}": { body: undefined; answer: undefined };
    "GET /api/users": { body: undefined; answer: UsersPage };
    "POST /api/users": { body: CreateUser; answer: User };
    "PATCH /api/users/{id}": { body: ChangeUser; answer: User };
    "GET /api/users/{id}/limits": { body: undefined; answer: UserLimits };
    "PUT /api/users/{id}/limits": { body: UserLimits; answer: UserLimits };
    "POST /api/users/{id}/sign-in-links": { body: InviteUser; answer: SignInLink };
    "GET /api/watch/{token}": { body: undefined; answer: Watch };
    "GET /health": { body: undefined; answer: Health };
    "GET /metrics": { body: undefined; answer: unknown };
}
