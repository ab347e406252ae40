package prompts_test

import (
	"context"
	"fmt"

	"ferrule/prompts"
)

// A deployment gives the stock prompt a persona and a fact, and a sub-agent over
// it works without the facts of the moment.
func Example() {
	stock, err := prompts.New(prompts.Code)
	if err != nil {
		panic(err)
	}
	deployment := stock.New("deployment")
	withdraw, err := deployment.Section(prompts.Section{
		Name: prompts.PersonaPrefix, Order: prompts.DeploymentPersonaPrefix, From: "our team",
		Text: prompts.Static("You speak to a team that knows {{model}}."),
	})
	if err != nil {
		panic(err)
	}
	if _, err := deployment.Context(prompts.Context{
		Name: "plan", Order: prompts.PlanState, From: "the loop", Text: prompts.Static("Plan mode is on."),
	}); err != nil {
		panic(err)
	}
	agent := deployment.New("sub-agent")
	agent.SuppressRuntimeContext()

	show := func(sc *prompts.Scope) {
		a, err := sc.Assemble(context.Background(), prompts.Input{Facts: prompts.Facts{Model: "deepseek-flash"}})
		if err != nil {
			panic(err)
		}
		p, err := a.Render()
		if err != nil {
			panic(err)
		}
		for _, part := range p.Parts() {
			if part.Scope == "deployment" {
				fmt.Printf("%s %s: %s\n", part.Kind, part.Name, part.Text)
			}
		}
	}
	show(deployment)
	show(agent)
	withdraw()
	show(agent)
	// Output:
	// section deployment:persona-prefix: You speak to a team that knows deepseek-flash.
	// context plan: Plan mode is on.
	// section deployment:persona-prefix: You speak to a team that knows deepseek-flash.
}
