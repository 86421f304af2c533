// Written by scripts/api-types from the server's OpenAPI document. Do not edit.

export interface components {
    schemas: {
        Act: {
            input: components["schemas"]["ToolInput"];
            /** @description Whether to wait until the screen settles and take a picture of it. */
            look?: boolean;
            tool: components["schemas"]["Tool"];
        };
        /** @description What came of an action. */
        Acted: {
            /** @description The `call` of its events. */
            call: string;
            /** Format: int64 */
            duration_ms: number;
            is_error: boolean;
            screenshot: components["schemas"]["BlobName"] | null;
            text: string;
        };
        /** @description One thing done to the desktop. Points are pixels from the top left and must be on the screen. */
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
            /** @description Key names held during the click. */
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
            /** @description With one point the drag starts at the pointer. */
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
        /** @description What was used. */
        Amount: {
            /** Format: int64 */
            tokens: number;
            /**
             * Format: double
             * @description US dollars.
             */
            usd: number;
        };
        /** @description A decision is settled: it cannot be answered any more. */
        AnswerData: {
            /** @description What counts, also when it is the default that came with the expiry. */
            answer?: components["schemas"]["Reply"];
            /**
             * Format: uuid
             * @description Who answered, when a person did.
             */
            by?: string;
            /** Format: uuid */
            decision: string;
            state: components["schemas"]["SettledState"];
            /** Format: uuid */
            turn: string;
        };
        /** @description An answer: exactly one of these, whichever the form asks for. */
        AnswerDecision: {
            /** @description Values of choices. */
            choices?: string[];
            file?: components["schemas"]["AnswerFile"];
            /** @description At most 64 KiB in UTF-8. */
            text?: string;
            yes?: boolean;
        };
        /** @description A file for the agent. */
        AnswerFile: {
            /** @description Its bytes, at most 700 KiB, in base64. */
            base64: string;
            /** @description Without slashes. */
            name: string;
        };
        /** @enum {string} */
        ApprovalMode: "always" | "risky" | "never";
        /** @description What the agent must ask before it does it. */
        ApprovalPolicy: {
            mode?: components["schemas"]["ApprovalMode"];
            /** @description The first that matches wins over the mode. */
            rules?: components["schemas"]["ApprovalRule"][];
        };
        /** @description What happens to calls of one kind. */
        ApprovalRule: {
            /** @description The whole text of a call, in which `*` stands for anything. `*` when it is absent. */
            pattern?: string;
            then: components["schemas"]["Then"];
            tool: components["schemas"]["RuleTool"];
        };
        /** @description The name of a picture: the SHA-256 of its bytes and its format. */
        BlobName: string;
        /**
         * @description What a turn may come up against.
         * @enum {string}
         */
        Bound: "session_usd" | "session_tokens" | "day_usd" | "day_tokens" | "steps" | "seconds" | "repeats";
        /** @description What may be used, and what is. */
        Budget: {
            tokens: components["schemas"]["TokensOfBudget"];
            usd: components["schemas"]["UsdOfBudget"];
        };
        BusEvent: {
            event: components["schemas"]["SessionEvent"];
            /** Format: uuid */
            session: string;
        };
        /** @description What the bus tells. */
        BusMessage: {
            /** @description Your newest sessions, at most 200, newest first. It comes once, first of all. */
            data: components["schemas"]["BusSnapshot"];
            /** @enum {string} */
            type: "snapshot";
        } | {
            /** @description A session is new or different. */
            data: components["schemas"]["BusSession"];
            /** @enum {string} */
            type: "session";
        } | {
            /** @description You cannot see a session any more. */
            data: components["schemas"]["BusSessionId"];
            /** @enum {string} */
            type: "session_gone";
        } | {
            /** @description Something to know at once. */
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
            /** @description What you asked for cannot be had, or cannot be had any more. */
            data: components["schemas"]["BusRefusal"];
            /** @enum {string} */
            type: "refused";
        } | {
            /** @description An event of a session you asked for. */
            data: components["schemas"]["BusEvent"];
            /** @enum {string} */
            type: "event";
        };
        BusNotice: {
            /** @description `too_many_awake`, `too_many_today` or `shutting_down`. A newer server may send others. */
            code: string;
            /** @description A sentence for people. */
            message: string;
        };
        BusRefusal: {
            error: components["schemas"]["ProblemError"];
            /**
             * Format: uuid
             * @description Absent when the message could not be read.
             */
            session?: string;
        };
        /** @description What a client says. */
        BusRequest: {
            /**
             * Format: int64
             * @description The number of the last event you saw; 0 is the beginning.
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
        /** @description A session, and whether it waits for you. */
        BusSession: components["schemas"]["Session"] & {
            /** @description The decisions that it waits for and you may answer, oldest first. */
            decisions: string[];
            /** @description Whether the agent waits for something that you may give it. */
            needs_me: boolean;
        };
        /** @description Names a session. */
        BusSessionId: {
            /** Format: uuid */
            session: string;
        };
        BusSnapshot: {
            sessions: components["schemas"]["BusSession"][];
        };
        /**
         * @description The left one when nothing is said.
         * @enum {string}
         */
        Button: "left" | "middle" | "right";
        /** @description What may be used. What is not given stays as it is, or is left to the server's settings; 0 is as much as it takes. */
        ChangeBudget: {
            /** Format: int64 */
            tokens?: number | null;
            /**
             * Format: double
             * @description US dollars.
             */
            usd?: number | null;
        };
        /** @description What to change of a message that waits. At least one of them. */
        ChangeMessage: {
            /**
             * Format: uuid
             * @description The message to stand before; null for the end of the queue.
             */
            before?: string | null;
            /** @description At most 256 KiB in UTF-8. */
            content?: string;
            delivery?: components["schemas"]["Delivery"];
            /** @description Which model works on it, as `vendor/name`; null for the session's. */
            model?: string | null;
        };
        /** @description What to change of a session. At least one of them. */
        ChangeSession: {
            /** @description What the agent must ask before it does it, from its next action on. */
            approvals?: components["schemas"]["ApprovalPolicy"];
            /** @description What it may use in all before a person is asked, instead of what it might until now. */
            budget?: components["schemas"]["ChangeBudget"];
            /**
             * @description What its agent is told besides what every agent is told, from its next turn on: at most 16 KiB in UTF-8, empty for
             *     nothing.
             */
            instructions?: string;
            /** @description `vendor/name`, from its next turn on. */
            model?: string;
            title?: string;
        };
        /** @description What to change of a user. */
        ChangeUser: {
            active?: boolean | null;
            name?: string | null;
            role?: components["schemas"]["UserRole"] | null;
        };
        /** @description A person changed settings of the session. Absent ones stayed as they were; a new model has an event of its own. */
        ChangedData: {
            /** @description What the agent must ask before it does it. */
            approvals?: components["schemas"]["ApprovalPolicy"];
            budget?: components["schemas"]["SetBudget"];
            /**
             * Format: uuid
             * @description Who did it.
             */
            by: string;
            /** @description Their name at that time. */
            by_name: string;
            /** @description From the next turn on. Empty: none. */
            instructions?: string;
            title?: string;
        };
        /** @description Something about a call that a person must agree to, whatever the policy says. */
        Check: {
            kind: components["schemas"]["DecisionKind"];
            prompt: string;
        };
        /** @description One of several possible answers. */
        Choice: {
            /** @description What people read. */
            label: string;
            /** @description What the answer names and the agent is told. */
            value: string;
        };
        /** @description Somebody who has the session open. */
        Collaborator: {
            /** Format: uuid */
            id: string;
            name: string;
        };
        /** @description A turn ended as it should, or because a person stopped it. */
        CompleteData: {
            /** @description What it came up against, when that was the end. */
            bound?: components["schemas"]["Bound"];
            /** Format: int64 */
            duration_ms: number;
            /**
             * Format: int32
             * @description How many times the model was asked.
             */
            n_steps: number;
            outcome: components["schemas"]["Outcome"];
            /** Format: uuid */
            turn: string;
        };
        /** @description What an answer of the model took. Unless it broke off it is whole: what the model said and asked for stands before this. */
        CostData: {
            /** @description Whether it only says what the model is about to do, so that it is not the end. */
            aside?: boolean;
            /** @description Whether it broke off, so that it is no answer and may have cost more. */
            broken_off?: boolean;
            /** @description Which model gave it. */
            model?: string;
            /**
             * Format: int32
             * @description Which of the turn's answers it was, counted from 1.
             */
            step: number;
            /** Format: uuid */
            turn: string;
            /** @description Whether the model wanted to say more and could not. */
            unfinished?: boolean;
            /** @description Whether nobody knows what the model costs, so that `usd` is no more than 0. */
            unpriced?: boolean;
            usage: components["schemas"]["UsageData"];
            /**
             * Format: double
             * @description What it cost in US dollars.
             */
            usd: number;
        };
        CreateSession: {
            approvals?: components["schemas"]["ApprovalPolicy"] | null;
            /** @description What it may use before a person is asked. */
            budget?: components["schemas"]["ChangeBudget"];
            /** @description What its agent is told besides what every agent is told: at most 16 KiB in UTF-8. */
            instructions?: string | null;
            /** @description The caller's own notes. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description `vendor/name`, or the server's choice. */
            model?: string | null;
            title?: string | null;
        };
        CreateToken: {
            /**
             * Format: date-time
             * @description For ever without it.
             */
            expires_at?: string | null;
            name: string;
            scope?: components["schemas"]["Scope"] | null;
        };
        CreateUser: {
            /** @description No two users' names differ only in case. */
            name: string;
            role?: components["schemas"]["UserRole"] | null;
        };
        /** @description Something a person is asked, and what became of it. */
        Decision: {
            answer: components["schemas"]["Reply"] | null;
            /**
             * Format: uuid
             * @description Who answered, when a person did.
             */
            answered_by: string | null;
            answered_by_name: string | null;
            /** @description The tool call that waits for it. */
            call: string | null;
            /** Format: date-time */
            created_at: string;
            default: components["schemas"]["Reply"] | null;
            /**
             * Format: date-time
             * @description It waits for ever without it.
             */
            expires_at: string | null;
            form: components["schemas"]["Form"];
            /** Format: uuid */
            id: string;
            kind: components["schemas"]["DecisionKind"];
            over: components["schemas"]["OverBound"] | null;
            /** @description The question, for people. */
            prompt: string;
            /** Format: uuid */
            session_id: string;
            session_title: string;
            /**
             * Format: date-time
             * @description When it was answered, expired or withdrawn.
             */
            settled_at: string | null;
            state: components["schemas"]["DecisionState"];
            subject: components["schemas"]["Subject"] | null;
            /** Format: uuid */
            turn: string;
        };
        /** @description A person is asked something. */
        DecisionData: {
            /** @description The tool call that waits for it. */
            call?: string;
            /** Format: uuid */
            decision: string;
            /** @description What counts as the answer when nobody gave one in time. */
            default?: components["schemas"]["Reply"];
            /**
             * Format: date-time
             * @description It waits for ever without it.
             */
            expires_at?: string;
            form: components["schemas"]["Form"];
            kind: components["schemas"]["DecisionKind"];
            /** @description The bound that would be passed, where that is why. */
            over?: components["schemas"]["OverBound"];
            /** @description The question, for people. */
            prompt: string;
            /** @description Exactly what would be done, where something would be. */
            subject?: components["schemas"]["Subject"];
            /** Format: uuid */
            turn: string;
        };
        /**
         * @description Why a person is asked.
         * @enum {string}
         */
        DecisionKind: "question" | "approval" | "safety_check" | "budget";
        /** @enum {string} */
        DecisionState: "open" | "answered" | "expired" | "withdrawn";
        /** @description A page of decisions, newest first. */
        DecisionsPage: {
            decisions: components["schemas"]["Decision"][];
            /**
             * Format: uuid
             * @description The `before` of the next page, when there is one.
             */
            next: string | null;
        };
        /**
         * @description How a message reaches an agent that is at work. One that is not takes any message at once.
         * @enum {string}
         */
        Delivery: "queue" | "steer" | "interrupt";
        /** @description One thing asked of the file editor. Paths are absolute. */
        EditCommand: {
            /** @enum {string} */
            command: "view";
            path: string;
            /** @description First and last line, counted from 1; a last line of -1 is the end of the file. */
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
        /** @description Something failed. With a `turn` it is that turn's end. */
        ErrorData: {
            /** @description Stable, for programs: `server_restarted`, `model_failed`, … */
            code: string;
            /** @description A sentence for people: what happened and what to do. */
            message: string;
            /** Format: uuid */
            turn?: string;
        };
        /** @description What an event says, by its `type`. */
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
            data: components["schemas"]["ModelData"];
            /** @enum {string} */
            type: "model";
        } | {
            data: components["schemas"]["ChangedData"];
            /** @enum {string} */
            type: "changed";
        } | {
            data: components["schemas"]["NoticeData"];
            /** @enum {string} */
            type: "notice";
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
        /** @description What is known of a file that was given. */
        FileHead: {
            /** Format: int64 */
            n_bytes: number;
            name: string;
        };
        /** @description How a decision can be answered. */
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
        /** @description A program in the sandbox has asked a model. It is no part of the conversation. */
        GatewayData: {
            /** @description `vendor/name`. */
            model: string;
            /**
             * Format: uuid
             * @description The turn that was under way. Absent when a person had control and the agent was not at work.
             */
            turn?: string;
            /** @description Whether the answer broke off, so that it may have cost more. */
            unfinished?: boolean;
            /** @description Whether nobody knows what the model costs, so that `usd` is no more than 0. */
            unpriced?: boolean;
            usage: components["schemas"]["UsageData"];
            /**
             * Format: double
             * @description What it cost in US dollars.
             */
            usd: number;
        };
        /**
         * @description A right that the owner can give.
         * @enum {string}
         */
        GivenRight: "view" | "suggest" | "drive";
        GrantRight: {
            /** @description With `owner` they become the owner and you may drive. */
            right: components["schemas"]["Right"];
        };
        Health: {
            parts: components["schemas"]["HealthParts"];
            status: components["schemas"]["HealthStatus"];
            version: string;
        };
        HealthPart: {
            /** @description What is wrong and where to look, when something is. */
            message?: string;
            status: components["schemas"]["HealthStatus"];
        };
        HealthParts: {
            /** @description Without it nothing can be done. */
            database: components["schemas"]["HealthPart"];
            /** @description Whether the page is in this program. */
            page: components["schemas"]["HealthPart"];
            /** @description Where pictures of the screen are kept. */
            pictures: components["schemas"]["HealthPart"];
            /** @description Whether sandboxes can be started. */
            sandboxes: components["schemas"]["HealthPart"];
        };
        /**
         * @description `degraded`: some things cannot be done. `unhealthy`: nothing can.
         * @enum {string}
         */
        HealthStatus: "healthy" | "degraded" | "unhealthy";
        JoinSession: {
            /**
             * Format: password
             * @description From a link into a session: `/?share=…`.
             */
            code: string;
        };
        /** @description Who has mouse and keyboard of a session's computer. */
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
        /** @description What became of a lease. */
        LeaseChange: {
            /** @enum {string} */
            change: "taken";
            /**
             * Format: uuid
             * @description Who had it until then, when the owner took it from somebody.
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
        /** @description Somebody's lease of mouse and keyboard began, was made longer or ended. */
        LeaseData: components["schemas"]["LeaseChange"] & {
            /** @description Their name at that time. */
            name: string;
            /**
             * Format: uuid
             * @description Whose lease it is, or was.
             */
            user: string;
        };
        /**
         * @description Why a lease ended.
         * @enum {string}
         */
        LeaseEnd: "handed_back" | "expired" | "disconnected" | "right_lost" | "session_ended";
        /** @description What you may use, and what you use of it. */
        LimitsInUse: {
            /** @description Your sessions that are awake. */
            awake_sessions: components["schemas"]["UsedOfLimit"];
            /**
             * Format: date-time
             * @description When you may make another session, if you may not now.
             */
            frees_at: string | null;
            /**
             * Format: int64
             * @description How long a session stays awake when nobody needs it.
             */
            idle_seconds: number;
            /**
             * Format: int64
             * @description How long one sandbox may live.
             */
            life_seconds: number;
            /** @description The sessions you made in the last 24 hours. */
            sessions_per_day: components["schemas"]["UsedOfLimit"];
        };
        /** @description A new link. */
        MadeShare: components["schemas"]["Share"] & {
            /** @description Shown this once. */
            code: string;
            /**
             * Format: uri
             * @description Shown this once.
             */
            url: string;
        };
        /** @description A new token. */
        MadeToken: components["schemas"]["Token"] & {
            /** @description The token itself, shown this once. */
            token: string;
        };
        /** @description What a person or the agent said. */
        Message: {
            /**
             * Format: uuid
             * @description Who wrote it, when a person did.
             */
            author: string | null;
            /** @description Their name, also when they have left. */
            author_name: string | null;
            content: string;
            /** Format: date-time */
            created_at: string;
            delivery: components["schemas"]["Delivery"];
            /** Format: uuid */
            id: string;
            /** @description Which model works on it, when it is not the session's. */
            model: string | null;
            role: components["schemas"]["Role"];
            /** Format: uuid */
            session_id: string;
        };
        /** @description A message was accepted, or the agent gave its answer. */
        MessageData: {
            /**
             * Format: uuid
             * @description Who wrote it, when a person did.
             */
            author?: string;
            /** @description Their name at that time. */
            author_name?: string;
            content: string;
            /** @description `queue` when it is absent. */
            delivery?: components["schemas"]["Delivery"];
            /** Format: uuid */
            id: string;
            /** @description Which model works on it, when it is not the session's. */
            model?: string;
            role: components["schemas"]["Role"];
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
             * @description The `after` of the next page, when there is one.
             */
            next: string | null;
        };
        /** @description A model. */
        Model: {
            /** @description `vendor/name`. */
            name: string;
            price: components["schemas"]["Price"] | null;
            /** @description Why it cannot be used, and the way out. */
            problem: string | null;
            usable: boolean;
        };
        /** @description A person gave the session another model, from its next turn on. */
        ModelData: {
            /**
             * Format: uuid
             * @description Who did it.
             */
            by: string;
            /** @description Their name at that time. */
            by_name: string;
            /** @description `vendor/name`. */
            model: string;
        };
        /** @description What there is to choose from, usable ones first. */
        Models: {
            /** @description What a session uses when nobody says otherwise. It is one of `models`. */
            default: string;
            /** @description Those that are known by name. Other models of a vendor may be usable as well. */
            models: components["schemas"]["Model"][];
        };
        /** @description A turn comes close to a bound. The model is told as well. */
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
             * @description In the bound's own unit.
             */
            used: number;
        };
        /** @enum {string} */
        Outcome: "done" | "stopped" | "interrupted" | "enough";
        /** @description A bound that would be passed, in the bound's own unit. */
        OverBound: {
            bound: components["schemas"]["Bound"];
            /** Format: double */
            limit: number;
            /**
             * Format: double
             * @description What a yes adds to the limit.
             */
            more: number;
            /** Format: double */
            used: number;
        };
        /** @description Everybody who has a right in a session, the owner first. */
        People: {
            people: components["schemas"]["Person"][];
        };
        /** @description Somebody who has a right in a session. */
        Person: {
            /** @description Whether they have a stream open. */
            here: boolean;
            /** Format: uuid */
            id: string;
            name: string;
            right: components["schemas"]["Right"];
        };
        /** @description A place on the screen. */
        Point: {
            /** Format: int32 */
            x: number;
            /** Format: int32 */
            y: number;
        };
        /** @description What a stream tells besides the log, when it is asked to. It has no number and is not kept. */
        PresenceMessage: {
            data: components["schemas"]["Collaborator"];
            /** @enum {string} */
            type: "collaborator_join";
        } | {
            data: components["schemas"]["Collaborator"];
            /** @enum {string} */
            type: "collaborator_leave";
        };
        /** @description What a million tokens cost, in US dollars. */
        Price: {
            /** Format: double */
            cache_read: number;
            /** Format: double */
            cache_write: number;
            /**
             * Format: double
             * @description Read, and neither from the vendor's cache nor into it.
             */
            input: number;
            /** Format: double */
            output: number;
        };
        /** @description The one shape of all refusals. */
        Problem: {
            error: components["schemas"]["ProblemError"];
        };
        ProblemError: {
            /** @description Stable, for programs. */
            code: string;
            /** @description Numbers behind the message, where they help. */
            details?: unknown;
            /** @description A sentence for people. */
            message: string;
        };
        PutSecret: {
            /** @description Where it may be typed: scheme, host and port of the page, such as `https://example.com`. */
            origins: string[];
            /** @description What is typed. It cannot be read again. */
            value: string;
        };
        /** @description The messages that wait, in the order in which the agent will take them. */
        Queue: {
            messages: components["schemas"]["Message"][];
        };
        /** @description What became of a message that waits. */
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
            /** Format: uuid */
            before?: string;
            /** @enum {string} */
            change: "moved";
        } | {
            /** @enum {string} */
            change: "removed";
        };
        /** @description A message was changed while it waited. */
        QueueData: components["schemas"]["QueueChange"] & {
            /**
             * Format: uuid
             * @description Who did it.
             */
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
        /** @description An answer. */
        Reply: {
            text: string;
        } | {
            /** @description Values of choices. */
            choices: string[];
        } | {
            yes: boolean;
        } | {
            file: components["schemas"]["FileHead"];
        };
        /** @description The model could not answer and is asked again. */
        RetryData: {
            /**
             * Format: int32
             * @description Which try failed, counted from 1 for each answer.
             */
            attempt: number;
            /** @description What went wrong, for people. */
            message: string;
            /** @description Which model is asked then, when it is another one. */
            model?: string;
            /**
             * Format: date-time
             * @description When it is asked again.
             */
            next_at: string;
            /** Format: uuid */
            turn: string;
        };
        /**
         * @description What somebody may do in a session. Each right includes those before it.
         * @enum {string}
         */
        Right: "view" | "suggest" | "drive" | "owner";
        /**
         * @description Who said a message.
         * @enum {string}
         */
        Role: "user" | "assistant";
        /** @enum {string} */
        RuleTool: "computer" | "bash" | "editor" | "fill_secret" | "any";
        /** @description A piece of what the model thought or said. Pieces with one `turn` and `block` belong together. */
        SaidData: {
            /**
             * Format: int32
             * @description Counted from 0 in each turn, over thinking and text together.
             */
            block: number;
            text: string;
            /** Format: uuid */
            turn: string;
        };
        /**
         * @description What a session's sandbox is doing.
         * @enum {string}
         */
        SandboxState: "none" | "starting" | "ready" | "paused" | "stopped" | "lost";
        /**
         * @description What a token is good for. Each scope but `metrics` includes those before it; `admin` includes all.
         * @enum {string}
         */
        Scope: "metrics" | "read" | "write" | "admin";
        /** @description The screen was looked at. */
        ScreenshotData: {
            blob: components["schemas"]["BlobName"];
            /** @description The tool use it belongs to. Absent when the agent looks because people had control. */
            call?: string;
            /** Format: int32 */
            height: number;
            /** Format: uuid */
            turn?: string;
            /** Format: int32 */
            width: number;
        };
        /** @description What is known of a secret. Its value is not. */
        Secret: {
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When an agent last typed it.
             */
            last_used_at: string | null;
            /**
             * Format: uuid
             * @description In which session.
             */
            last_used_in: string | null;
            name: string;
            /** @description Where it may be typed. */
            origins: string[];
            /** Format: date-time */
            updated_at: string;
        };
        /** @description Your secrets. */
        Secrets: {
            secrets: components["schemas"]["Secret"][];
        };
        SendMessage: {
            /** @description At most 256 KiB in UTF-8. */
            content: string;
            delivery?: components["schemas"]["Delivery"];
            /**
             * @description Which model works on it, as `vendor/name`; the session's without it. A message that steers a turn leaves the
             *     turn its model.
             */
            model?: string | null;
        };
        /** @description A conversation with an agent. */
        Session: {
            /** @description What the agent must ask before it does it. */
            approvals: components["schemas"]["ApprovalPolicy"];
            /** @description What it may use, and what it has used. */
            budget: components["schemas"]["Budget"];
            /**
             * Format: double
             * @description What its models have cost so far, in US dollars.
             */
            cost_usd: number;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            /** @description What its agent is told besides what every agent is told. Empty: nothing. */
            instructions: string;
            /**
             * Format: int64
             * @description The number of its newest event.
             */
            last_seq: number;
            /** @description Who has mouse and keyboard. */
            lease: components["schemas"]["Lease"];
            /** @description The caller's own notes. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description `vendor/name`. */
            model: string;
            /**
             * Format: uuid
             * @description Who made it.
             */
            owner: string;
            /** @description What you may do with it. */
            right: components["schemas"]["Right"];
            sandbox: components["schemas"]["SandboxState"];
            state: components["schemas"]["SessionState"];
            /** @description Empty until somebody names it or the first message does. */
            title: string;
            /**
             * Format: int64
             * @description What its models have read and written so far.
             */
            tokens: number;
            /** Format: date-time */
            updated_at: string;
        };
        /** @description One fact of a session's log. A newer server may send other types too: pass them over. */
        SessionEvent: components["schemas"]["EventBody"] & {
            /** Format: date-time */
            at: string;
            /**
             * Format: int64
             * @description Counted from 1 in each session, without gaps.
             */
            seq: number;
        };
        /**
         * @description What a session is doing.
         * @enum {string}
         */
        SessionState: "initializing" | "idle" | "running" | "waiting" | "error" | "terminated";
        /** @description A page of sessions, newest first. */
        SessionsPage: {
            /**
             * Format: uuid
             * @description The `before` of the next page, when there is one.
             */
            next: string | null;
            sessions: components["schemas"]["Session"][];
        };
        /** @description The budget that a session has from now on. */
        SetBudget: {
            /**
             * Format: int64
             * @description Tokens. Absent: no limit.
             */
            tokens?: number;
            /**
             * Format: double
             * @description US dollars. Absent: no limit.
             */
            usd?: number;
        };
        /** @description Your settings. */
        Settings: {
            /** @description What the agent must ask in sessions that you make from now on. */
            approvals: components["schemas"]["ApprovalPolicy"];
        };
        /** @enum {string} */
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
        };
        ShareSession: {
            /**
             * Format: date-time
             * @description In a week unless said.
             */
            expires_at?: string | null;
            right: components["schemas"]["GivenRight"];
        };
        /** @description The links of a session that are still good. */
        Shares: {
            shares: components["schemas"]["Share"][];
        };
        /** @description One thing asked of the shell. */
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
        SignIn: {
            /**
             * Format: password
             * @description From a sign-in link: `/?code=…`, good once, for ten minutes.
             */
            code: string;
        };
        SignInLink: {
            /** Format: date-time */
            expires_at: string;
            /** Format: uri */
            url: string;
        };
        /** @description The session or its sandbox is in another state now. */
        StatusData: {
            /**
             * Format: uuid
             * @description The message that this turn works on. A message that no status names is still waiting.
             */
            prompt?: string;
            /** @description Why, where that is not plain. */
            reason?: string;
            sandbox: components["schemas"]["SandboxState"];
            state: components["schemas"]["SessionState"];
            /**
             * Format: uuid
             * @description The turn that begins here, takes up another message, or was held up and goes on.
             */
            turn?: string;
        };
        /** @description The tool use that a person is asked about. */
        Subject: {
            input: unknown;
            tool: string;
        };
        TakeControl: {
            /** @description Whether to take it from whoever has it. Only the owner may. */
            force?: boolean;
            /**
             * Format: int32
             * @description For how long.
             * @default 300
             */
            seconds?: number | null;
        };
        /** @enum {string} */
        Then: "ask" | "allow" | "refuse";
        /** @description What is known of a token. */
        Token: {
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description For ever when it is null.
             */
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            last_used_at: string | null;
            name: string;
            /** @description How it begins, so that people know which it is. Empty for one made by an early version. */
            prefix: string;
            scope: components["schemas"]["Scope"];
        };
        /** @description Your tokens. */
        Tokens: {
            tokens: components["schemas"]["Token"][];
        };
        TokensOfBudget: {
            /**
             * Format: int64
             * @description With what people gave in addition. As many as it takes when it is null.
             */
            limit: number | null;
            /** Format: int64 */
            used: number;
        };
        /**
         * @description A tool: `computer` takes an `Action`, `bash` a `ShellRequest`, `editor` an `EditCommand`.
         * @enum {string}
         */
        Tool: "computer" | "bash" | "editor";
        /** @description What a tool is told. */
        ToolInput: components["schemas"]["Action"] | components["schemas"]["ShellRequest"] | components["schemas"]["EditCommand"];
        /** @description What came of a tool use. */
        ToolResultData: {
            call: string;
            /** Format: int64 */
            duration_ms: number;
            is_error: boolean;
            /** @description More of the same call follows; `text` is only what is new. The last result has it all. */
            partial?: boolean;
            text: string;
            /** Format: uuid */
            turn?: string;
        };
        /** @description A tool is about to be used. */
        ToolUseData: {
            /**
             * Format: uuid
             * @description Who did it, when a person did.
             */
            by?: string;
            /** @description Pairs the use with its result. */
            call: string;
            /** @description What a person must agree to first. */
            checks?: components["schemas"]["Check"][];
            /** @description A `ToolInput`, or what the model sent instead of one. */
            input: unknown;
            /** @description A `Tool`, or what the model named instead of one. */
            tool: string;
            /**
             * Format: uuid
             * @description Absent when a person did it by hand.
             */
            turn?: string;
        };
        /** @description What the models of all your sessions have used. */
        Usage: {
            /** @description Since the first of the month. */
            month: components["schemas"]["Amount"];
            /**
             * Format: date-time
             * @description When the next day begins.
             */
            next_day_at: string;
            /** @description Since midnight UTC, and what you may use until the next. */
            today: components["schemas"]["Budget"];
        };
        /** @description What an answer took, in tokens. */
        UsageData: {
            /** Format: int64 */
            cache_read: number;
            /** Format: int64 */
            cache_write: number;
            /**
             * Format: int64
             * @description Read, and neither from the vendor's cache nor into it.
             */
            input: number;
            /** Format: int64 */
            output: number;
        };
        /** @description US dollars. */
        UsdOfBudget: {
            /**
             * Format: double
             * @description With what people gave in addition. As much as it takes when it is null.
             */
            limit: number | null;
            /** Format: double */
            used: number;
        };
        UsedOfLimit: {
            /** Format: int32 */
            limit: number;
            /** Format: int64 */
            used: number;
        };
        /** @description Somebody who may sign in. */
        User: {
            /** @description Whoever is not active is signed out everywhere and cannot sign in. */
            active: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            name: string;
            role: components["schemas"]["UserRole"];
        };
        /** @description What was decided for a user. Where nothing is, or null, the server's settings hold. */
        UserLimits: {
            /**
             * Format: int32
             * @description How many of their sessions may be awake at a time.
             */
            awake_sessions?: number | null;
            /**
             * Format: int64
             * @description How many tokens they may use in a day. 0: as many as it takes.
             */
            day_tokens?: number | null;
            /**
             * Format: double
             * @description What the models of their sessions may cost in a day, in US dollars. 0: as much as it takes.
             */
            day_usd?: number | null;
            /**
             * Format: int32
             * @description How long a session of theirs stays awake when nobody needs it.
             */
            idle_seconds?: number | null;
            /**
             * Format: int32
             * @description How long one sandbox of theirs may live.
             */
            life_seconds?: number | null;
            /**
             * Format: int32
             * @description How many sessions they may make in 24 hours.
             */
            sessions_per_day?: number | null;
        };
        /**
         * @description What a user is to the server.
         * @enum {string}
         */
        UserRole: "admin" | "member";
        /** @description A page of users, oldest first. */
        UsersPage: {
            /**
             * Format: uuid
             * @description The `after` of the next page, when there is one.
             */
            next: string | null;
            users: components["schemas"]["User"][];
        };
    };
}
export type Act = components['schemas']['Act'];
export type Acted = components['schemas']['Acted'];
export type Action = components['schemas']['Action'];
export type Amount = components['schemas']['Amount'];
export type AnswerData = components['schemas']['AnswerData'];
export type AnswerDecision = components['schemas']['AnswerDecision'];
export type AnswerFile = components['schemas']['AnswerFile'];
export type ApprovalMode = components['schemas']['ApprovalMode'];
export type ApprovalPolicy = components['schemas']['ApprovalPolicy'];
export type ApprovalRule = components['schemas']['ApprovalRule'];
export type BlobName = components['schemas']['BlobName'];
export type Bound = components['schemas']['Bound'];
export type Budget = components['schemas']['Budget'];
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
export type Choice = components['schemas']['Choice'];
export type Collaborator = components['schemas']['Collaborator'];
export type CompleteData = components['schemas']['CompleteData'];
export type CostData = components['schemas']['CostData'];
export type CreateSession = components['schemas']['CreateSession'];
export type CreateToken = components['schemas']['CreateToken'];
export type CreateUser = components['schemas']['CreateUser'];
export type Decision = components['schemas']['Decision'];
export type DecisionData = components['schemas']['DecisionData'];
export type DecisionKind = components['schemas']['DecisionKind'];
export type DecisionState = components['schemas']['DecisionState'];
export type DecisionsPage = components['schemas']['DecisionsPage'];
export type Delivery = components['schemas']['Delivery'];
export type EditCommand = components['schemas']['EditCommand'];
export type ErrorData = components['schemas']['ErrorData'];
export type EventBody = components['schemas']['EventBody'];
export type EventsPage = components['schemas']['EventsPage'];
export type FileHead = components['schemas']['FileHead'];
export type Form = components['schemas']['Form'];
export type GatewayData = components['schemas']['GatewayData'];
export type GivenRight = components['schemas']['GivenRight'];
export type GrantRight = components['schemas']['GrantRight'];
export type Health = components['schemas']['Health'];
export type HealthPart = components['schemas']['HealthPart'];
export type HealthParts = components['schemas']['HealthParts'];
export type HealthStatus = components['schemas']['HealthStatus'];
export type JoinSession = components['schemas']['JoinSession'];
export type Lease = components['schemas']['Lease'];
export type LeaseChange = components['schemas']['LeaseChange'];
export type LeaseData = components['schemas']['LeaseData'];
export type LeaseEnd = components['schemas']['LeaseEnd'];
export type LimitsInUse = components['schemas']['LimitsInUse'];
export type MadeShare = components['schemas']['MadeShare'];
export type MadeToken = components['schemas']['MadeToken'];
export type Message = components['schemas']['Message'];
export type MessageData = components['schemas']['MessageData'];
export type MessagesPage = components['schemas']['MessagesPage'];
export type Model = components['schemas']['Model'];
export type ModelData = components['schemas']['ModelData'];
export type Models = components['schemas']['Models'];
export type NoticeData = components['schemas']['NoticeData'];
export type Outcome = components['schemas']['Outcome'];
export type OverBound = components['schemas']['OverBound'];
export type People = components['schemas']['People'];
export type Person = components['schemas']['Person'];
export type Point = components['schemas']['Point'];
export type PresenceMessage = components['schemas']['PresenceMessage'];
export type Price = components['schemas']['Price'];
export type Problem = components['schemas']['Problem'];
export type ProblemError = components['schemas']['ProblemError'];
export type PutSecret = components['schemas']['PutSecret'];
export type Queue = components['schemas']['Queue'];
export type QueueChange = components['schemas']['QueueChange'];
export type QueueData = components['schemas']['QueueData'];
export type Region = components['schemas']['Region'];
export type Reply = components['schemas']['Reply'];
export type RetryData = components['schemas']['RetryData'];
export type Right = components['schemas']['Right'];
export type Role = components['schemas']['Role'];
export type RuleTool = components['schemas']['RuleTool'];
export type SaidData = components['schemas']['SaidData'];
export type SandboxState = components['schemas']['SandboxState'];
export type Scope = components['schemas']['Scope'];
export type ScreenshotData = components['schemas']['ScreenshotData'];
export type Secret = components['schemas']['Secret'];
export type Secrets = components['schemas']['Secrets'];
export type SendMessage = components['schemas']['SendMessage'];
export type Session = components['schemas']['Session'];
export type SessionEvent = components['schemas']['SessionEvent'];
export type SessionState = components['schemas']['SessionState'];
export type SessionsPage = components['schemas']['SessionsPage'];
export type SetBudget = components['schemas']['SetBudget'];
export type Settings = components['schemas']['Settings'];
export type SettledState = components['schemas']['SettledState'];
export type Share = components['schemas']['Share'];
export type ShareSession = components['schemas']['ShareSession'];
export type Shares = components['schemas']['Shares'];
export type ShellRequest = components['schemas']['ShellRequest'];
export type SignIn = components['schemas']['SignIn'];
export type SignInLink = components['schemas']['SignInLink'];
export type StatusData = components['schemas']['StatusData'];
export type Subject = components['schemas']['Subject'];
export type TakeControl = components['schemas']['TakeControl'];
export type Then = components['schemas']['Then'];
export type Token = components['schemas']['Token'];
export type Tokens = components['schemas']['Tokens'];
export type TokensOfBudget = components['schemas']['TokensOfBudget'];
export type Tool = components['schemas']['Tool'];
export type ToolInput = components['schemas']['ToolInput'];
export type ToolResultData = components['schemas']['ToolResultData'];
export type ToolUseData = components['schemas']['ToolUseData'];
export type Usage = components['schemas']['Usage'];
export type UsageData = components['schemas']['UsageData'];
export type UsdOfBudget = components['schemas']['UsdOfBudget'];
export type UsedOfLimit = components['schemas']['UsedOfLimit'];
export type User = components['schemas']['User'];
export type UserLimits = components['schemas']['UserLimits'];
export type UserRole = components['schemas']['UserRole'];
export type UsersPage = components['schemas']['UsersPage'];

/** The body and the answer of each operation. */
export interface Operations {
    "GET /api/blobs/{name}": { body: undefined; answer: unknown };
    "GET /api/decisions": { body: undefined; answer: DecisionsPage };
    "GET /api/docs": { body: undefined; answer: unknown };
    "GET /api/docs/{file}": { body: undefined; answer: unknown };
    "GET /api/me": { body: undefined; answer: User };
    "GET /api/me/limits": { body: undefined; answer: LimitsInUse };
    "GET /api/me/usage": { body: undefined; answer: Usage };
    "GET /api/models": { body: undefined; answer: Models };
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
    "GET /api/sessions/{id}/decisions": { body: undefined; answer: DecisionsPage };
    "POST /api/sessions/{id}/decisions/{decision}/answer": { body: AnswerDecision; answer: Decision };
    "GET /api/sessions/{id}/events": { body: undefined; answer: EventsPage };
    "PUT /api/sessions/{id}/lease": { body: TakeControl; answer: Lease };
    "DELETE /api/sessions/{id}/lease": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/messages": { body: undefined; answer: MessagesPage };
    "POST /api/sessions/{id}/messages": { body: SendMessage; answer: Message };
    "GET /api/sessions/{id}/people": { body: undefined; answer: People };
    "GET /api/sessions/{id}/people/{user}": { body: undefined; answer: Person };
    "PUT /api/sessions/{id}/people/{user}": { body: GrantRight; answer: Person };
    "DELETE /api/sessions/{id}/people/{user}": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/queue": { body: undefined; answer: Queue };
    "PATCH /api/sessions/{id}/queue/{message}": { body: ChangeMessage; answer: Queue };
    "DELETE /api/sessions/{id}/queue/{message}": { body: undefined; answer: undefined };
    "GET /api/sessions/{id}/screenshot": { body: undefined; answer: unknown };
    "GET /api/sessions/{id}/shares": { body: undefined; answer: Shares };
    "POST /api/sessions/{id}/shares": { body: ShareSession; answer: MadeShare };
    "DELETE /api/sessions/{id}/shares/{share}": { body: undefined; answer: undefined };
    "POST /api/sessions/{id}/stop": { body: undefined; answer: undefined };
    "GET /api/settings": { body: undefined; answer: Settings };
    "PATCH /api/settings": { body: Settings; answer: Settings };
    "POST /api/shares/join": { body: JoinSession; answer: Session };
    "POST /api/sign-in": { body: SignIn; answer: undefined };
    "POST /api/sign-in-links": { body: undefined; answer: SignInLink };
    "POST /api/sign-out": { body: undefined; answer: undefined };
    "GET /api/tokens": { body: undefined; answer: Tokens };
    "POST /api/tokens": { body: CreateToken; answer: MadeToken };
    "DELETE /api/tokens/{id}": { body: undefined; answer: undefined };
    "GET /api/users": { body: undefined; answer: UsersPage };
    "POST /api/users": { body: CreateUser; answer: User };
    "PATCH /api/users/{id}": { body: ChangeUser; answer: User };
    "GET /api/users/{id}/limits": { body: undefined; answer: UserLimits };
    "PUT /api/users/{id}/limits": { body: UserLimits; answer: UserLimits };
    "POST /api/users/{id}/sign-in-links": { body: undefined; answer: SignInLink };
    "GET /health": { body: undefined; answer: Health };
    "GET /metrics": { body: undefined; answer: unknown };
}
